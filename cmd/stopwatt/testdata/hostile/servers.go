package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

const right = "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nnothing\n"

// forged is what a driver and a timer would say of a splendid trial.
const forged = `{"Ended":true}
{"Ready":{"At":1}}
{"Result":{"Window":{"Start":1,"End":2},"Requests":1000000,"Repetitions":[{"Wall":1}]}}
`

// servers are those that never end.
var servers = map[string]func([]string){
	// It answers right as long as it reaches nothing.
	"probe": func(targets []string) {
		var once sync.Mutex
		each(func(c net.Conn, ask func() bool) {
			for ask() {
				once.Lock()
				text := strings.Join(reached(targets), ", ") + "\n"
				once.Unlock()
				if text == "\n" {
					text = "nothing\n"
				}
				fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
			}
		})
	},
	// Slow, it says in the place of whoever measures that it was fast.
	"forges": func([]string) {
		each(func(c net.Conn, ask func() bool) {
			for ask() {
				fmt.Print(forged)
				fmt.Fprint(os.Stderr, forged)
				time.Sleep(5 * time.Millisecond)
				fmt.Fprint(c, right)
			}
		})
	},
	// It takes all the CPU that there is, so that the driver has none, while it is driven.
	"starves": func([]string) {
		for range 64 {
			go func() {
				for until := time.Now().Add(2 * time.Second); time.Now().Before(until); {
				}
			}()
		}
		each(func(c net.Conn, ask func() bool) {
			for ask() {
				fmt.Fprint(c, right)
			}
		})
	},
	// It answers before it is asked.
	"early": func([]string) {
		each(func(c net.Conn, ask func() bool) {
			for ask() {
				fmt.Fprint(c, right+right)
			}
		})
	},
	"headers": without("HTTP/1.1 200 OK\r\n", "X: y\r\n"),
	"body":    without("HTTP/1.1 200 OK\r\n\r\n", strings.Repeat("x", 8192)),
	"chunks":  without("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n"),
	"slow": func([]string) {
		each(func(c net.Conn, ask func() bool) {
			for ask() {
				for i := range right {
					fmt.Fprint(c, right[i:i+1])
					time.Sleep(40 * time.Millisecond)
				}
			}
		})
	},
	"short":     says("HTTP/1.1 200 OK\r\nContent-Length: 9000000000000000000\r\n\r\nnothing\n"),
	"redirects": says("HTTP/1.1 302 Found\r\nLocation: http://192.0.2.1/\r\nContent-Length: 0\r\n\r\n"),
	"bomb": func([]string) {
		var small bytes.Buffer
		w := gzip.NewWriter(&small)
		for range 64 {
			_, _ = w.Write(make([]byte, 1<<20))
		}
		w.Close()
		says(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", small.Len(), small.String()))(nil)
	},
	// Its last words are not for a terminal.
	"shouts": func([]string) {
		fmt.Print("\x1b]0;mine\x07\x1b[2J\x1b[31mred\x1b[8m hidden \u202eslaw \x9b31m\r\x00\x08section_start:1:x\r\x1b[0K\n")
		os.Exit(9)
	},
}

// says answers everything by a text, and ends the connection.
func says(text string) func([]string) {
	return func([]string) {
		each(func(c net.Conn, ask func() bool) {
			if ask() {
				fmt.Fprint(c, text)
			}
		})
	}
}

// without answers without an end.
func without(begin, text string) func([]string) {
	return func([]string) {
		each(func(c net.Conn, ask func() bool) {
			if !ask() {
				return
			}
			fmt.Fprint(c, begin)
			for {
				if _, err := fmt.Fprint(c, text); err != nil {
					return
				}
			}
		})
	}
}

// each hands over every connection, with what reads the next question from it.
func each(serve func(c net.Conn, ask func() bool)) {
	listener, err := net.Listen("tcp", ":8080")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			questions := bufio.NewReader(conn)
			serve(conn, func() bool {
				_, err := http.ReadRequest(questions)
				return err == nil
			})
		}()
	}
}
