//go:build linux

package agent

import (
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

func BenchmarkFeed(b *testing.B) {
	text := []byte("HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Sun, 30 Nov 2025 09:00:00 GMT\r\nContent-Type: text/plain\r\nContent-Length: 1024\r\nLast-Modified: Sun, 30 Nov 2025 09:00:00 GMT\r\nConnection: keep-alive\r\nETag: \"692c0b6f-400\"\r\nAccept-Ranges: bytes\r\n\r\n" + strings.Repeat("x", 1024))
	var a answer
	var m memory
	for b.Loop() {
		a.await(false)
		m.feed(&a, text)
		if !a.done() {
			b.Fatal()
		}
	}
}

func BenchmarkClock(b *testing.B) {
	c := newClock()
	for b.Loop() {
		c.now()
	}
}

func BenchmarkRecord(b *testing.B) {
	var h stopwatt.Histogram
	n := int64(0)
	for b.Loop() {
		n += 1000
		h.Record(n & 0xfffff)
	}
}
