package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// answers is a server for probes. It answers a path with 200, and with 500 from a moment that it
// reports.
type answers struct {
	server   http.Server
	address  net.TCPAddr
	mu       sync.Mutex
	failing  map[string]bool
	answered map[string]chan time.Time
}

// answer starts a server on the node's address. The server stops when ctx ends.
func (b *bench) answer(ctx context.Context) (*answers, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(b.i.Env["NODE_IP"], "0"))
	if err != nil {
		return nil, err
	}
	a := &answers{failing: map[string]bool{}, answered: map[string]chan time.Time{}}
	a.address = *listener.Addr().(*net.TCPAddr)
	a.server = http.Server{Handler: a, ReadHeaderTimeout: time.Second}
	go func() { _ = a.server.Serve(listener) }() // it returns after close
	return a, nil
}

func (a *answers) close() error { return a.server.Close() }

// host and port are the address for the probes.
func (a *answers) host() string { return a.address.IP.String() }
func (a *answers) port() string { return strconv.Itoa(a.address.Port) }

func (a *answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	a.mu.Lock()
	failing, answered := a.failing[name], a.answered[name]
	delete(a.answered, name)
	a.mu.Unlock()
	if failing {
		w.WriteHeader(http.StatusInternalServerError)
	}
	if answered != nil {
		_ = http.NewResponseController(w).Flush() // the answer counts from when it is sent
		answered <- time.Now()
	}
}

// turn changes the answers for a pod, and returns when the first changed answer was sent.
func (a *answers) turn(ctx context.Context, name string, failing bool) (time.Time, error) {
	answered := make(chan time.Time, 1)
	a.mu.Lock()
	a.failing[name], a.answered[name] = failing, answered
	a.mu.Unlock()
	select {
	case at := <-answered:
		return at, nil
	case <-ctx.Done():
		return time.Time{}, errors.New("no probe has asked for " + name)
	}
}
