package kube

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	dialTimeout = 10 * time.Second
	// headerTimeout is how long an answer may take to begin.
	headerTimeout = 70 * time.Second
	// quietTime is how long nothing may come over a connection until it is
	// asked for a sign of life, pingTimeout how long that may take.
	quietTime   = 15 * time.Second
	pingTimeout = 10 * time.Second
	// idleTime is how long a connection is kept that carries no request.
	idleTime = 90 * time.Second
)

// outcomeKey is the key of an *outcome in a request's context.
type outcomeKey struct{}

// outcome is how the last attempt at a request went, which the REST client
// does not always say, and what is read of the answer.
type outcome struct {
	err  error
	body *limitedBody
}

// transport sends requests with the credentials that the files hold at that
// moment. Connections are made anew when what secures them has changed.
type transport struct {
	files      Credentials
	serverName string
	log        *slog.Logger
	// maxAnswer and maxEvent are Config's.
	maxAnswer, maxEvent int64

	mu   sync.Mutex
	have credentials
	base *http.Transport
	// trouble is why the files as they are now are not used.
	trouble error
}

func newTransport(c *Config) *transport {
	return &transport{
		files: c.Credentials, serverName: c.ServerName, log: c.Logger,
		maxAnswer: cmp.Or(c.MaxAnswer, DefaultMaxAnswer), maxEvent: cmp.Or(c.MaxEvent, DefaultMaxEvent),
	}
}

// RoundTrip sends a request.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.send(r)
	var body *limitedBody
	if err == nil {
		limit := t.maxAnswer
		if answer.StatusCode == http.StatusOK && r.URL.Query().Has("watch") {
			limit = t.maxEvent
		}
		body = &limitedBody{ReadCloser: answer.Body, limit: limit}
		answer.Body = body
	}
	if o, ok := r.Context().Value(outcomeKey{}).(*outcome); ok {
		o.err, o.body = err, body
	}
	return answer, err
}

func (t *transport) send(r *http.Request) (*http.Response, error) {
	base, token, err := t.current()
	if err != nil {
		return nil, err
	}
	if token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return base.RoundTrip(r)
}

// current reads the files and returns what to send the next request with: what
// they hold, or what they last held if that cannot be used.
func (t *transport) current() (*http.Transport, string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next, err := t.files.read(t.have)
	t.note(err)
	if t.base == nil {
		if err != nil {
			return nil, "", err
		}
	} else if next.sameConnection(&t.have) {
		t.have = next
		return t.base, next.token, nil
	}
	if t.base != nil {
		t.log.Info("certificates for the API server have changed; connecting anew")
		t.base.CloseIdleConnections()
	}
	t.have, t.base = next, connections(next.tls(t.serverName))
	return t.base, next.token, nil
}

// note remembers what is wrong with the files and logs it once.
func (t *transport) note(err error) {
	if err != nil && t.base != nil && (t.trouble == nil || t.trouble.Error() != err.Error()) {
		t.log.Warn("credentials cannot be read; those read before are used", "err", err)
	}
	t.trouble = err
}

// problem says what is wrong with the files, nil if nothing is.
func (t *transport) problem() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.trouble
}

func (t *transport) closeIdle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.base != nil {
		t.base.CloseIdleConnections()
	}
}

// connections are made as client-go makes them, with shorter times: a network
// that is cut is noticed after quietTime and pingTimeout.
func connections(c *tls.Config) *http.Transport {
	dialer := &net.Dialer{
		Timeout:         dialTimeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: quietTime, Interval: pingTimeout / 3, Count: 3},
	}
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dialer.DialContext,
		TLSClientConfig:       c,
		TLSHandshakeTimeout:   dialTimeout,
		ResponseHeaderTimeout: headerTimeout,
		IdleConnTimeout:       idleTime,
		ForceAttemptHTTP2:     true,
		HTTP2:                 &http.HTTP2Config{SendPingTimeout: quietTime, PingTimeout: pingTimeout},
	}
}

// limitedBody fails when more than limit bytes are read without a refill.
type limitedBody struct {
	io.ReadCloser
	limit int64
	read  atomic.Int64
}

func (b *limitedBody) Read(p []byte) (int, error) {
	left := b.limit - b.read.Load()
	if left <= 0 {
		return 0, fmt.Errorf("more than %d bytes", b.limit)
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), left)])
	b.read.Add(int64(n))
	return n, err
}

// refill lets as much be read as before the first byte. A nil body is none.
func (b *limitedBody) refill() {
	if b != nil {
		b.read.Store(0)
	}
}
