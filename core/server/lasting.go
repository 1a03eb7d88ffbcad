package server

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"
)

// socketPeriod is how often it is looked whether the file of the socket is there.
const socketPeriod = 10 * time.Second

// Lasting is l, a listener that Listen has opened, which makes the file of the socket
// again when it was removed.
func Lasting(l net.Listener, socket string, log *slog.Logger) net.Listener {
	return lasting(l, socket, log, socketPeriod)
}

func lasting(l net.Listener, socket string, log *slog.Logger, period time.Duration) net.Listener {
	unix, ok := l.(*net.UnixListener)
	if !ok {
		return l
	}
	made, err := os.Lstat(socket)
	if err != nil {
		made = nil
	}
	return &lastingListener{current: unix, made: made, socket: socket, log: log, period: period}
}

// lastingListener looks for the file between calls of Accept.
type lastingListener struct {
	socket string
	log    *slog.Logger
	period time.Duration
	// made is the file, failing that it could not be made again, which was logged. Both
	// belong to Accept.
	made    os.FileInfo
	failing bool

	mu      sync.Mutex
	current *net.UnixListener
	closed  bool
}

// Accept implements net.Listener. One goroutine calls it.
func (l *lastingListener) Accept() (net.Conn, error) {
	for {
		current := l.listener()
		if err := current.SetDeadline(time.Now().Add(l.period)); err != nil {
			return nil, err
		}
		conn, err := current.Accept()
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return conn, err
		}
		l.renew()
	}
}

// renew listens anew where the file is gone.
func (l *lastingListener) renew() {
	if is, err := os.Lstat(l.socket); err == nil && l.made != nil && os.SameFile(is, l.made) {
		return
	}
	next, err := Listen(l.socket)
	if err != nil {
		if !l.failing {
			l.log.Warn("the socket of the agent is gone and cannot be made again", "socket", l.socket, "err", err)
		}
		l.failing = true
		return
	}
	l.failing = false
	l.log.Warn("the socket of the agent was removed, it is made again", "socket", l.socket)
	if made, err := os.Lstat(l.socket); err == nil {
		l.made = made
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		next.Close()
		return
	}
	// The name is the next one's now.
	l.current.SetUnlinkOnClose(false)
	l.current.Close()
	l.current, _ = next.(*net.UnixListener)
}

func (l *lastingListener) listener() *net.UnixListener {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current
}

// Close implements net.Listener.
func (l *lastingListener) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return l.current.Close()
}

// Addr implements net.Listener.
func (l *lastingListener) Addr() net.Addr { return l.listener().Addr() }
