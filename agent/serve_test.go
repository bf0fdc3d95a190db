//go:build linux

package agent

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

func TestTheNullServerAnswersEverything(t *testing.T) {
	t.Parallel()
	address := startNullServer(t)
	for _, driver := range []Driver{Epoll{}, reference{}} {
		for _, closing := range []bool{false, true} {
			for _, size := range []int{0, 1, 200_000} {
				order := orderFor(address)
				order.Request.Method, order.Request.Body = "POST", make([]byte, size)
				order.Load = stopwatt.Load{Users: 4, Requests: 20, Close: closing, Timeout: 20 * time.Second}
				got, err := driver.Drive(t.Context(), order, 0)
				if err != nil || got.Requests != 80 {
					t.Errorf("%T, close %v, %d bytes: %d right, %v, %v", driver, closing, size, got.Requests, got.FirstErrors, err)
				}
			}
		}
	}
}

func TestTheNullServerReadsRequestsInPieces(t *testing.T) {
	t.Parallel()
	conn, err := net.Dial("tcp", startNullServer(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const two = "POST / HTTP/1.1\r\ncontent-length: 3\r\n\r\nabcGET / HTTP/1.1\r\nConnection: Close\r\n\r\n"
	go func() {
		for i := range two {
			io.WriteString(conn, two[i:i+1])
		}
	}()
	reader := bufio.NewReader(conn)
	for i, closing := range []bool{false, true} {
		response, err := http.ReadResponse(reader, nil)
		if err != nil || response.StatusCode != 200 || response.Close != closing {
			t.Fatalf("answer %d: %+v, %v", i, response, err)
		}
		response.Body.Close()
	}
	if _, err := reader.ReadByte(); err != io.EOF {
		t.Errorf("after the last answer: %v", err)
	}
}

func TestTheNullServerHangsUpOnWhatItDoesNotUnderstand(t *testing.T) {
	t.Parallel()
	address := startNullServer(t)
	for _, question := range []string{
		"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
		"GET / HTTP/1.1\r\nX: " + strings.Repeat("y", 2*longestHead),
	} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(conn, question) // may fail: it hangs up early
		if text, _ := io.ReadAll(conn); len(text) > 0 {
			t.Errorf("answered %q to %.50q", text, question)
		}
		conn.Close()
	}
}
