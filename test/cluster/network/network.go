package network

import (
	"net"
	"sync"
)

// Network forwards connections to one server. It is safe for concurrent use. New creates it; it must
// be closed with Close.
type Network struct {
	listener net.Listener
	target   string
	running  sync.WaitGroup

	mu sync.Mutex
	// mended is closed while bytes pass. A new channel takes its place while they do not.
	mended chan struct{}
	// refused: new connections are closed at once.
	refused bool
	conns   map[net.Conn]bool
}

// New returns a network to a server, HOST:PORT, that forwards everything.
func New(target string) (*Network, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	n := &Network{listener: l, target: target, mended: make(chan struct{}), conns: map[net.Conn]bool{}}
	close(n.mended)
	n.running.Go(n.accept)
	return n, nil
}

// Close closes all connections, and waits for the goroutines.
func (n *Network) Close() {
	n.listener.Close()
	n.Mend()
	n.Cut()
	n.running.Wait()
}

// URL returns the URL of the server on this side of the network.
func (n *Network) URL() string { return "https://" + n.listener.Addr().String() }

func (n *Network) accept() {
	for {
		near, err := n.listener.Accept()
		if err != nil {
			return
		}
		n.running.Go(func() { n.connect(near) })
	}
}

func (n *Network) connect(near net.Conn) {
	n.mu.Lock()
	refused := n.refused
	n.mu.Unlock()
	far, err := net.Dial("tcp", n.target)
	if err != nil || refused {
		near.Close()
		if far != nil {
			far.Close()
		}
		return
	}
	n.mu.Lock()
	n.conns[near], n.conns[far] = true, true
	n.mu.Unlock()
	n.running.Go(func() { n.carry(far, near) })
	n.carry(near, far)
}

// carry copies from one side to the other while the network is not cut, and
// closes both at the end.
func (n *Network) carry(to, from net.Conn) {
	defer func() {
		to.Close()
		from.Close()
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.conns, from)
	}()
	buffer := make([]byte, 32<<10)
	for {
		size, err := from.Read(buffer)
		n.mu.Lock()
		mended := n.mended
		n.mu.Unlock()
		<-mended
		if size > 0 {
			if _, err := to.Write(buffer[:size]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// Swallow stops forwarding bytes, like a cut network: neither side
// gets an error.
func (n *Network) Swallow() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.mended = make(chan struct{})
}

// Refuse closes all connections and every new one.
func (n *Network) Refuse() {
	n.mu.Lock()
	n.refused = true
	n.mu.Unlock()
	n.Cut()
}

// Mend forwards everything again.
func (n *Network) Mend() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.refused = false
	select {
	case <-n.mended:
	default:
		close(n.mended)
	}
}

// Cut closes all connections.
func (n *Network) Cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.conns {
		c.Close()
	}
}
