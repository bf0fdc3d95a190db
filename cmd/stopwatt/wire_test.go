package main

import (
	"bytes"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// A wire lies between a command and what it speaks to, and can be cut.
type wire struct {
	listener net.Listener

	mu    sync.Mutex
	dial  func() (net.Conn, error)
	knock chan struct{}          // closed when somebody is turned away
	watch func(sent []byte) bool // look says of what
	down  bool                   // nobody gets through
	mute  bool                   // nobody is answered
	lag   time.Duration          // of each answer
	conns map[net.Conn]bool
}

// newWire lays a wire to the address that dial reaches.
func newWire(t *testing.T, listener net.Listener, dial func() (net.Conn, error)) *wire {
	w := &wire{listener: listener, dial: dial, conns: map[net.Conn]bool{}}
	var all sync.WaitGroup
	all.Go(func() { w.accept(&all) })
	t.Cleanup(func() {
		_ = listener.Close()
		w.cut(true)
		all.Wait()
	})
	return w
}

func (w *wire) accept(all *sync.WaitGroup) {
	for {
		near, err := w.listener.Accept()
		if err != nil {
			return
		}
		w.mu.Lock()
		dial := w.dial
		w.mu.Unlock()
		far, err := dial()
		if err != nil || !w.keep(near, far) {
			_ = near.Close()
			if err == nil {
				_ = far.Close()
			}
			continue
		}
		all.Go(func() { w.pass(near, far) })
		all.Go(func() { w.back(near, far) })
	}
}

// keep remembers a connection, unless nobody gets through.
func (w *wire) keep(conns ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, conn := range conns {
		w.conns[conn] = !w.down
	}
	if w.down && w.knock != nil {
		close(w.knock)
		w.knock = nil
	}
	return !w.down
}

// pass passes on what the command sends.
func (w *wire) pass(near, far net.Conn) {
	defer near.Close()
	defer far.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := near.Read(buffer)
		if n > 0 && !w.passes(buffer[:n]) {
			return
		}
		if _, writeErr := far.Write(buffer[:n]); err != nil || writeErr != nil {
			half(far)
			return
		}
	}
}

// look has watch shown what the command sends, before it is passed on. False cuts the
// connection there.
func (w *wire) look(watch func(sent []byte) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watch = watch
}

// passes asks who watches, if anybody does. Another connection may be looked at meanwhile.
func (w *wire) passes(sent []byte) bool {
	w.mu.Lock()
	watch := w.watch
	w.mu.Unlock()
	return watch == nil || watch(sent)
}

// half ends one direction of a connection, where it has two.
func half(conn net.Conn) {
	if two, ok := conn.(interface{ CloseWrite() error }); ok {
		_ = two.CloseWrite()
	}
}

// back passes on what it is answered, unless nobody is.
func (w *wire) back(near, far net.Conn) {
	defer near.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := far.Read(buffer)
		w.mu.Lock()
		mute, lag := w.mute, w.lag
		w.mu.Unlock()
		time.Sleep(lag)
		if !mute {
			_, _ = near.Write(buffer[:n])
		}
		if err != nil {
			return
		}
	}
}

// cut ends all connections; with down, no other gets through.
func (w *wire) cut(down bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = down
	for conn := range w.conns {
		_ = conn.Close()
	}
	clear(w.conns)
}

// reach has the wire lead elsewhere from now on.
func (w *wire) reach(dial func() (net.Conn, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dial = dial
}

// away cuts the wire until somebody has been turned away.
func (w *wire) away() {
	knocked := make(chan struct{})
	w.mu.Lock()
	w.knock = knocked
	w.mu.Unlock()
	w.cut(true)
	<-knocked
	w.cut(false)
}

// silence says whether answers are held back for ever.
func (w *wire) silence(mute bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mute = mute
}

// slow says how late answers are.
func (w *wire) slow(lag time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lag = lag
}

// toPostgres lays a wire to the database that dsn names, and names it by the wire.
func toPostgres(t *testing.T, dsn string) (*wire, string) {
	t.Helper()
	at, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	network, address := "tcp", at.Host
	query := at.Query()
	if host := query.Get("host"); strings.HasPrefix(host, "/") {
		port := query.Get("port")
		if port == "" {
			port = "5432"
		}
		network, address = "unix", host+"/.s.PGSQL."+port
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	query.Del("host")
	query.Del("port")
	query.Set("sslmode", "disable")
	at.Host, at.RawQuery = listener.Addr().String(), query.Encode()
	return newWire(t, listener, func() (net.Conn, error) { return net.Dial(network, address) }), at.String()
}

// copying tells whether a command sends rows of a COPY.
func copying(sent []byte) bool {
	return len(sent) > 0 && sent[0] == 'd' || bytes.Contains(sent, []byte("copy \""))
}
