package nodeapi

import (
	"context"
	"crypto/tls"
	"net"
	"slices"
	"sync"
)

// limited is a listener with a limited number of connections. If all places are in use, a new
// connection takes the place of the oldest one whose caller is not known yet, so that callers without
// rights cannot keep others out. If all callers are known, it waits. A caller is known once it may do
// what it asks for.
type limited struct {
	net.Listener

	most int

	mu   sync.Mutex
	free *sync.Cond
	// count is the number of places in use. strangers are the connections with a caller that is not
	// known yet, the oldest first.
	count     int
	strangers []*limitedConn
	closed    bool
}

func limit(l net.Listener, most int) *limited {
	out := &limited{Listener: l, most: most}
	out.free = sync.NewCond(&out.mu)
	return out
}

// Accept implements net.Listener.
func (l *limited) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &limitedConn{Conn: conn, of: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.count >= l.most {
		switch {
		case l.closed:
			_ = conn.Close() // it was never used
			return nil, net.ErrClosed
		case len(l.strangers) > 0:
			oldest := l.strangers[0]
			_ = oldest.Conn.Close() // its own goroutine gets the error
			l.release(oldest)
		default:
			l.free.Wait()
		}
	}
	l.count++
	l.strangers = append(l.strangers, c)
	return c, nil
}

// release frees the place of a connection, once.
func (l *limited) release(c *limitedConn) {
	if c.left {
		return
	}
	c.left = true
	l.count--
	l.forget(c)
	l.free.Signal()
}

// forget takes a connection from the strangers.
func (l *limited) forget(c *limitedConn) {
	if i := slices.Index(l.strangers, c); i >= 0 {
		l.strangers = slices.Delete(l.strangers, i, i+1)
	}
}

// Close implements net.Listener.
func (l *limited) Close() error {
	l.mu.Lock()
	l.closed = true
	l.free.Broadcast()
	l.mu.Unlock()
	return l.Listener.Close()
}

// limitedConn is a connection that occupies a place until it is closed.
type limitedConn struct {
	net.Conn

	of *limited
	// left is true once the place is free; of.mu protects it.
	left bool
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	c.of.mu.Lock()
	c.of.release(c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// known records that the caller is known: the connection keeps its place.
func (c *limitedConn) known() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.of.forget(c)
}

// connKey is the key of a request's *limitedConn in its context.
type connKey struct{}

// withConn is ConnContext of http.Server.
func withConn(ctx context.Context, conn net.Conn) context.Context {
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	return context.WithValue(ctx, connKey{}, conn)
}

// callerKnown records that the caller of a request is known.
func callerKnown(ctx context.Context) {
	if conn, ok := ctx.Value(connKey{}).(*limitedConn); ok {
		conn.known()
	}
}
