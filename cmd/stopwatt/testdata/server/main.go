// Command server is a server under test: it does, by MODE, what servers do. With
// arguments it is a program under test: it does what they say, and ends.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) > 1 {
		os.Exit(program(os.Args[1], os.Args[2:]))
	}
	switch os.Getenv("MODE") {
	case "exits":
		fmt.Println("cannot open /etc/server.conf")
		os.Exit(7)
	case "hungry":
		fill()
	case "silent":
		time.Sleep(time.Hour)
	case "other-port":
		serve(":9999", answer("hello\n"))
	case "wrong":
		serve(":8080", answer("goodbye\n"))
	case "mute":
		serve(":8080", func(http.ResponseWriter, *http.Request) { select {} })
	case "dies":
		serve(":8080", dieAfter(20))
	case "everywhere":
		go serveTLS(":8443", answer("hello\n"))
		go serveSocket("/run/server/socket", answer("hello\n"))
		serve(":8080", answer("hello\n"))
	case "spins":
		serve(":8080", spinning(answer("hello\n"), 3*time.Millisecond))
	default:
		serve(":8080", answer("hello\n"))
	}
}

// program does what one word says, and returns the exit status.
func program(does string, arguments []string) int {
	switch does {
	case "count":
		n, err := strconv.Atoi(arguments[0])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
		sum := 0
		for i := range n {
			sum ^= i * i
		}
		fmt.Println("counted to", n+sum*0)
		return 0
	case "print":
		fmt.Println(strings.Join(arguments, "\n"))
		return 0
	case "get":
		return get(arguments[0])
	case "cat":
		text, err := os.ReadFile(arguments[0])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Print(string(text))
		return 0
	case "save":
		if err := os.WriteFile(arguments[0], []byte(arguments[1]), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	fmt.Fprintln(os.Stderr, "cannot", does)
	return 5
}

// spinning keeps a CPU busy for a while before it answers.
func spinning(handler http.HandlerFunc, lasting time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for until := time.Now().Add(lasting); time.Now().Before(until); {
		}
		handler(w, r)
	}
}

// get prints what a server answers.
func get(url string) int {
	answer, err := http.Get(url)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer answer.Body.Close()
	if _, err := io.Copy(os.Stdout, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		fmt.Fprintln(os.Stderr, answer.Status, err)
		return 1
	}
	return 0
}

// answered counts the requests that were answered.
var answered atomic.Int64

// serve answers until SIGTERM, and tells then how many it has answered.
func serve(address string, handler http.HandlerFunc) {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	go func() {
		<-told
		fmt.Println("answered", answered.Load())
		os.Exit(0)
	}()
	if err := http.ListenAndServe(address, handler); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// answer answers everything alike.
func answer(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		n := answered.Add(1)
		switch r.URL.Path {
		case "/count":
			fmt.Fprintln(w, n)
		case "/moved":
			http.Redirect(w, r, "/", http.StatusFound)
		case "/echo":
			fmt.Fprint(w, r.URL.RawQuery)
		default:
			fmt.Fprint(w, body)
		}
	}
}

// dieAfter ends the server in the middle of its work.
func dieAfter(n int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if answered.Add(1) > n {
			fmt.Println("assertion failed")
			os.Exit(3)
		}
		fmt.Fprint(w, "hello\n")
	}
}

// fill takes memory until there is none.
func fill() {
	var kept [][]byte
	for {
		block := make([]byte, 16<<20)
		for i := range block {
			block[i] = byte(i)
		}
		kept = append(kept, block)
		time.Sleep(time.Millisecond)
		_ = kept
	}
}
