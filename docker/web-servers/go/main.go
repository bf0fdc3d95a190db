// Command webserver serves the three programs of the web-servers suite with net/http.
//
// It uses the standard library only. docker/web-servers/README.md states what is asked and answered.
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	maxBody = 64 << 10
	maxHead = 8 << 10

	plain = "text/plain; charset=utf-8"
)

//go:embed page.html
var page []byte

// A program answers one path. A nil answer means that the query or the body is malformed.
type program struct {
	method      string
	contentType string
	closes      bool // the connection, after each answer
	answer      func(query string, body []byte) []byte
}

var programs = map[string]program{
	"/csv-svg-path":        {http.MethodPost, "image/svg+xml", false, csvSVGPath},
	"/static":              {http.MethodGet, "text/html; charset=utf-8", true, static},
	"/varying-allocations": {http.MethodGet, plain, false, varyingAllocations},
}

func static(string, []byte) []byte { return page }

func main() {
	runtime.GOMAXPROCS(threads())
	busy, err := spin()
	if err != nil {
		log.Fatal(err)
	}
	if err := serve(spinning(busy, handle)); err != nil {
		log.Fatal(err)
	}
}

// threads is what THREADS says, by default 4: the number of users in the experiment, and of threads on its board.
func threads() int {
	if n, err := strconv.Atoi(os.Getenv("THREADS")); err == nil && n > 0 {
		return n
	}
	return 4
}

// spin is what SPIN says, by default nothing: how long a CPU is kept busy before each answer. A server that is slower by
// a known amount is what a benchmark's verdicts are checked with.
func spin() (time.Duration, error) {
	text := os.Getenv("SPIN")
	if text == "" {
		return 0, nil
	}
	busy, err := time.ParseDuration(text)
	if err == nil && busy < 0 {
		err = errors.New("it is negative")
	}
	if err != nil {
		return 0, fmt.Errorf("SPIN=%s: %w; write 50us", text, err)
	}
	return busy, nil
}

// spinning keeps a CPU busy for so long before it handles a request.
func spinning(busy time.Duration, handle http.HandlerFunc) http.HandlerFunc {
	if busy == 0 {
		return handle
	}
	return func(w http.ResponseWriter, r *http.Request) {
		for began := time.Now(); time.Since(began) < busy; {
		}
		handle(w, r)
	}
}

// serve listens until SIGTERM or SIGINT, then gives running requests two seconds.
func serve(handler http.Handler) error {
	stop, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	listener, err := net.Listen("tcp4", "0.0.0.0:8080")
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:        handler,
		MaxHeaderBytes: maxHead - 4096, // net/http allows 4,096 bytes more than it is told.
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	select {
	case err := <-done:
		return err
	case <-stop.Done():
		bounded, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		return server.Shutdown(bounded)
	}
}

func handle(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength < 0 { // chunked: the other implementations know lengths only
		fail(w, r, http.StatusLengthRequired, "length required\n")
		return
	}
	if r.ContentLength > maxBody {
		fail(w, r, http.StatusRequestEntityTooLarge, "content too large\n")
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // The client has gone.
	}
	path, query, _ := strings.Cut(r.RequestURI, "?")
	program, found := programs[path]
	if !found {
		send(w, r, http.StatusNotFound, plain, []byte("not found\n"))
		return
	}
	if r.Method != program.method {
		w.Header().Set("Allow", program.method)
		send(w, r, http.StatusMethodNotAllowed, plain, []byte("method not allowed\n"))
		return
	}
	answer := program.answer(query, body)
	if answer == nil {
		send(w, r, http.StatusBadRequest, plain, []byte("bad request\n"))
		return
	}
	r.Close = r.Close || program.closes
	send(w, r, http.StatusOK, program.contentType, answer)
}

// fail answers a request whose body is left unread, so that nothing can follow it on its connection.
func fail(w http.ResponseWriter, r *http.Request, status int, message string) {
	r.Close = true
	send(w, r, status, plain, []byte(message))
}

func send(w http.ResponseWriter, r *http.Request, status int, contentType string, body []byte) {
	header := w.Header()
	header["Date"] = nil // The other implementations send none; the answers are compared byte for byte.
	header.Set("Content-Type", contentType)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Close || !r.ProtoAtLeast(1, 1) {
		header.Set("Connection", "close")
	}
	w.WriteHeader(status)
	w.Write(body)
}
