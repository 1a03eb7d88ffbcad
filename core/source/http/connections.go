package http

import (
	"context"
	"net"
	"sync"
	"time"
)

// connections makes the connections of a client and knows those that are open.
// A transport closes only what it takes for idle, which a connection of HTTP/2
// that has gone silent is not.
type connections struct {
	timeout time.Duration

	mu   sync.Mutex
	open map[*connection]bool
	// ended is set once no more are to be made.
	ended bool
}

// connection is one of them.
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

// Close closes the connection, and forgets it.
func (c *connection) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// closeAll closes what is open; ended is true for the last time.
func (c *connections) closeAll(ended bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		conn.Conn.Close()
	}
	c.open, c.ended = nil, c.ended || ended
}
