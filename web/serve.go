package web

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

// Bounds of one connection.
const (
	headerBound     = 5 * time.Second  // until a request's header has come
	readBound       = 15 * time.Second // until all of it has
	idleBound       = time.Minute      // between two
	endBound        = 10 * time.Second // until what is being answered has been, when the server ends
	largestHeader   = 16 << 10         // bytes
	mostConnections = 256
)

// Serve answers requests until the context ends, then lets what is being answered
// come to its end.
func Serve(ctx context.Context, listener net.Listener, s *Server) error {
	handler := s.Handler()
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: headerBound, ReadTimeout: readBound, WriteTimeout: s.Timeout + readBound, IdleTimeout: idleBound,
		MaxHeaderBytes: largestHeader, ErrorLog: s.Log,
	}
	stop := context.AfterFunc(ctx, func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endBound)
		defer cancel()
		if err := server.Shutdown(ending); err != nil {
			_ = server.Close() // whoever still waits has waited long enough
		}
	})
	err := server.Serve(limited(listener, mostConnections))
	if stop() || !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	// Serve returns when the end begins; this waits until it has come.
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endBound)
	defer cancel()
	return errors.Join(err, server.Shutdown(ending))
}

// A limitedListener accepts so many connections at a time; others wait in the
// kernel's queue.
type limitedListener struct {
	net.Listener
	places chan struct{}
}

func limited(l net.Listener, most int) net.Listener {
	return &limitedListener{l, make(chan struct{}, most)}
}

// Accept waits for a place, then for a connection.
func (l *limitedListener) Accept() (net.Conn, error) {
	l.places <- struct{}{}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.places
		return nil, err
	}
	return &limitedConn{Conn: conn, leave: func() { <-l.places }}, nil
}

// A limitedConn gives its place back once.
type limitedConn struct {
	net.Conn
	once  sync.Once
	leave func()
}

// Close closes the connection.
func (c *limitedConn) Close() error {
	defer c.once.Do(c.leave)
	return c.Conn.Close()
}
