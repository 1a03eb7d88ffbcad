package http

import (
	"context"
	"net"
	"sync"
	"time"
)

// connections makes the connections of a client and keeps the set of open ones. A transport closes
// only connections that it regards as idle. An HTTP/2 connection that no longer responds is not
// idle for it.
type connections struct {
	timeout time.Duration

	mu   sync.Mutex
	open map[*connection]bool
	// ended is set when no more connections may be made.
	ended bool
}

// connection is one open connection.
type connection struct {
	net.Conn
	of *connections
}

func (c *connections) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: c.timeout}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		conn.Close()
		return nil, net.ErrClosed
	}
	made := &connection{conn, c}
	if c.open == nil {
		c.open = map[*connection]bool{}
	}
	c.open[made] = true
	return made, nil
}

// Close closes the connection, and removes it from the set.
func (c *connection) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// closeAll closes all open connections. ended: no more connections may be made.
func (c *connections) closeAll(ended bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		conn.Conn.Close()
	}
	c.open, c.ended = nil, c.ended || ended
}
