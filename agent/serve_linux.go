package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"

	"golang.org/x/sys/unix"
)

// What the null server answers, what it answers when the client wants the
// connection closed, and how long a request's head may be.
var (
	nullAnswer     = []byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	headEnd        = []byte("\r\n\r\n")
	nullLastAnswer = []byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
)

const longestHead = 16 << 10

// Serve answers every request on address (host:port) with 200 and no body,
// from one thread, at as little cost as it can: the null server. It hangs up
// on requests that it does not understand. listening, if not nil, is told the
// actual address once connections are taken. Serve returns nil when ctx ends.
func Serve(ctx context.Context, address string, listening func(address string)) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	file, err := listener.(*net.TCPListener).File() // a descriptor beside Go's own poller
	listener.Close()                                // file keeps it open
	if err != nil {
		return fmt.Errorf("listen on %s: %w", address, err)
	}
	defer file.Close() // nothing is written to it
	s, err := newNullServer(int(file.Fd()))
	if err != nil {
		return fmt.Errorf("serve %s: %w", address, err)
	}
	defer s.close()
	defer context.AfterFunc(ctx, func() { signalEvent(s.stopper) })()
	if listening != nil {
		listening(listener.Addr().String())
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return s.run()
}

// A nullServer is the connections of Serve.
type nullServer struct {
	epoll    int
	listener int
	stopper  int
	clients  map[int32]*client // by descriptor
	buffer   []byte
	known    []byte // the head understood last
	meaning  meaning
}

// A client is one connection.
type client struct {
	fd      int
	head    []byte // of a request whose head has not come whole
	left    int64  // bytes of a request's body still to come
	closing bool
}

// meaning is what matters of a request's head.
type meaning struct {
	bodyBytes  int64
	closing    bool
	understood bool
}

func newNullServer(listener int) (*nullServer, error) {
	if err := unix.SetNonblock(listener, true); err != nil { // Fd() made it blocking
		return nil, err
	}
	s := &nullServer{listener: listener, epoll: -1, stopper: -1, clients: map[int32]*client{}, buffer: make([]byte, bufferBytes)}
	var err1, err2 error
	s.epoll, err1 = unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	s.stopper, err2 = newEvent()
	err := errors.Join(err1, err2)
	for _, fd := range []int{s.listener, s.stopper} {
		if err != nil {
			break
		}
		if errno := watchSocket(s.epoll, unix.EPOLL_CTL_ADD, fd, unix.EPOLLIN, int32(fd)); errno != 0 {
			err = errno
		}
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *nullServer) close() {
	for _, c := range s.clients {
		closeSocket(c.fd)
	}
	closeSocket(s.epoll)
	closeSocket(s.stopper)
}

func (s *nullServer) run() error {
	events := make([]unix.EpollEvent, eventsAtOnce)
	for {
		n, errno := waitSockets(s.epoll, events, -1)
		if errno != 0 {
			n = 0 // EINTR: the runtime knocked
		}
		for _, event := range events[:n] {
			switch int(event.Fd) {
			case s.stopper:
				return nil
			case s.listener:
				s.accept()
			default:
				s.receive(s.clients[event.Fd])
			}
		}
	}
}

// accept takes the connections that wait.
func (s *nullServer) accept() {
	for {
		fd, _, err := unix.Accept4(s.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err != nil {
			return
		}
		sendAtOnce(fd)
		if errno := watchSocket(s.epoll, unix.EPOLL_CTL_ADD, fd, unix.EPOLLIN, int32(fd)); errno != 0 {
			closeSocket(fd)
			continue
		}
		s.clients[int32(fd)] = &client{fd: fd}
	}
}

// receive reads what has come from a client and answers what is complete.
func (s *nullServer) receive(c *client) {
	n, errno := receiveSocket(c.fd, s.buffer)
	if errno == unix.EAGAIN || errno == unix.EINTR {
		return
	}
	if errno != 0 || n == 0 || !s.answer(c, s.buffer[:n]) {
		closeSocket(c.fd)
		delete(s.clients, int32(c.fd))
	}
}

// answer reads requests and answers them. It returns false when the client is
// to be hung up on.
func (s *nullServer) answer(c *client, p []byte) bool {
	for len(p) > 0 {
		if c.left == 0 {
			var whole bool
			if p, whole = s.question(c, p); !whole {
				return len(c.head) <= longestHead
			}
			if !s.meaning.understood {
				return false
			}
			c.left, c.closing = s.meaning.bodyBytes, s.meaning.closing
		}
		n := min(c.left, int64(len(p)))
		p, c.left = p[n:], c.left-n
		if c.left == 0 && !s.reply(c) {
			return false
		}
	}
	return true
}

// question reads a request's head up to its end, into s.meaning, and returns
// what follows it.
func (s *nullServer) question(c *client, p []byte) (rest []byte, whole bool) {
	if len(c.head) > 0 {
		c.head = append(c.head, p...)
		p = c.head
	}
	end := bytes.Index(p, headEnd)
	if end < 0 {
		c.head = append(c.head[:0], p...)
		return nil, false
	}
	c.head = c.head[:0]
	head := p[:end+len(headEnd)]
	if !bytes.Equal(head, s.known) { // mostly all requests are alike
		s.known = append(s.known[:0], head...)
		s.meaning = understand(head)
	}
	return p[len(head):], true
}

// understand reads what matters of a request's head.
func understand(head []byte) meaning {
	m := meaning{understood: true}
	_, headers, _ := bytes.Cut(head, []byte("\r\n"))
	for line := range bytes.SplitSeq(bytes.TrimSuffix(headers, headEnd), []byte("\r\n")) {
		name, value, ok := splitHeader(line)
		switch {
		case !ok || equalFold(name, "transfer-encoding"):
			m.understood = m.understood && len(line) == 0
		case equalFold(name, "content-length"):
			var number bool
			m.bodyBytes, number = decimal(value)
			m.understood = m.understood && number
		case equalFold(name, "connection"):
			m.closing = equalFold(value, "close")
		}
	}
	return m
}

// reply answers one request. It returns false when the client is to be hung
// up on: as it wished, or because it does not read its answers.
func (s *nullServer) reply(c *client) bool {
	text := nullAnswer
	if c.closing {
		text = nullLastAnswer
	}
	n, errno := sendSocket(c.fd, text)
	return errno == 0 && n == len(text) && !c.closing
}
