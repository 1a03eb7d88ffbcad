package nodeapi

import (
	"net"
	"sync"
)

// limited is a listener that accepts no further connection while all of its places are in use.
type limited struct {
	net.Listener

	places chan struct{}
	closed chan struct{}
	close  func()
}

func limit(l net.Listener, most int) *limited {
	closed := make(chan struct{})
	return &limited{Listener: l, places: make(chan struct{}, most), closed: closed, close: sync.OnceFunc(func() { close(closed) })}
}

// Accept implements net.Listener.
func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.places <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.places
		return nil, err
	}
	return &limitedConn{Conn: conn, leave: sync.OnceFunc(func() { <-l.places })}, nil
}

// Close implements net.Listener.
func (l *limited) Close() error {
	l.close()
	return l.Listener.Close()
}

// limitedConn is a connection that occupies a place until it is closed.
type limitedConn struct {
	net.Conn

	leave func()
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
