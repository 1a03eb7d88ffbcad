//go:build e2e

package cluster

import (
	"net"
	"sync"
	"testing"
)

// proxy is the network between a source and its server.
type proxy struct {
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

func newProxy(t *testing.T, target string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	p := &proxy{listener: l, target: target, mended: make(chan struct{}), conns: map[net.Conn]bool{}}
	close(p.mended)
	p.running.Go(p.accept)
	t.Cleanup(func() {
		l.Close()
		p.mend()
		p.cut()
		p.running.Wait()
	})
	return p
}

func (p *proxy) url() string { return "https://" + p.listener.Addr().String() }

func (p *proxy) accept() {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.running.Go(func() { p.connect(near) })
	}
}

func (p *proxy) connect(near net.Conn) {
	p.mu.Lock()
	refused := p.refused
	p.mu.Unlock()
	far, err := net.Dial("tcp", p.target)
	if err != nil || refused {
		near.Close()
		if far != nil {
			far.Close()
		}
		return
	}
	p.mu.Lock()
	p.conns[near], p.conns[far] = true, true
	p.mu.Unlock()
	p.running.Go(func() { p.carry(far, near) })
	p.carry(near, far)
}

// carry copies from one side to the other while the network is not cut, and
// closes both at the end.
func (p *proxy) carry(to, from net.Conn) {
	defer func() {
		to.Close()
		from.Close()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, from)
	}()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		mended := p.mended
		p.mu.Unlock()
		<-mended
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// swallow stops forwarding bytes, like a cut network: neither side
// gets an error.
func (p *proxy) swallow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mended = make(chan struct{})
}

// refuse closes all connections and every new one.
func (p *proxy) refuse() {
	p.mu.Lock()
	p.refused = true
	p.mu.Unlock()
	p.cut()
}

// mend forwards everything again.
func (p *proxy) mend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refused = false
	select {
	case <-p.mended:
	default:
		close(p.mended)
	}
}

// cut closes all connections.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
}
