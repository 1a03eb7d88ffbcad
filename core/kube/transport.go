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
	// headerTimeout limits the time until an answer begins.
	headerTimeout = 70 * time.Second
	// quietTime is the time without traffic after which a connection is pinged. pingTimeout limits the
	// wait for the answer.
	quietTime   = 15 * time.Second
	pingTimeout = 10 * time.Second
	// idleTime is the time for which a connection without requests is kept.
	idleTime = 90 * time.Second
)

// outcomeKey is the key of an *outcome in a request's context.
type outcomeKey struct{}

// outcome has the result of the last attempt at a request, which the REST client does not always
// report, and the body of the answer.
type outcome struct {
	err  error
	body *limitedBody
}

// transport sends requests with the current credentials of the files. It makes new connections when
// certificates or authorities have changed.
type transport struct {
	files      Credentials
	serverName string
	log        *slog.Logger
	// maxAnswer and maxEvent are Config's.
	maxAnswer, maxEvent int64

	mu   sync.Mutex
	have credentials
	base *http.Transport
	// trouble is why the current files are not used.
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

// current reads the files and returns the transport and token for the next request. If the files
// are invalid, their last valid content stays in use.
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

// note records what is wrong with the files and logs each new reason once.
func (t *transport) note(err error) {
	if err != nil && t.base != nil && (t.trouble == nil || t.trouble.Error() != err.Error()) {
		t.log.Warn("credentials cannot be read; those read before are used", "err", err)
	}
	t.trouble = err
}

// problem returns what is wrong with the files, nil for nothing.
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

// connections returns a transport like client-go's, but with shorter timeouts: an interrupted
// network is detected after quietTime and pingTimeout.
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

// refill resets the number of bytes read. It accepts a nil body.
func (b *limitedBody) refill() {
	if b != nil {
		b.read.Store(0)
	}
}
