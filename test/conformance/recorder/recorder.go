package recorder

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wardlet/wardlet/test/conformance/instance"
)

// Request is a request whose answer has begun.
type Request struct {
	Method string
	// Path is the path without the query; Query is the raw query.
	Path, Query string
	// Code is the HTTP status of the answer, 0 for none.
	Code int
	// Body is the request body, and BytesIn its length. BytesOut is the length of the answer's body so
	// far.
	Body              []byte
	BytesIn, BytesOut int64
	// At is when the request arrived.
	At time.Time
}

// Total is the amount of traffic through a Recorder.
type Total struct {
	// Requests is the number of requests, including those without an answer yet.
	Requests int64
	// BytesIn and BytesOut are the bytes on the wire from and to the agent, with TLS and headers.
	BytesIn, BytesOut int64
}

// Sub returns the traffic since an earlier total.
func (t Total) Sub(o Total) Total {
	return Total{t.Requests - o.Requests, t.BytesIn - o.BytesIn, t.BytesOut - o.BytesOut}
}

// Recorder is a running proxy. It is safe for concurrent use.
type Recorder struct {
	// Kubeconfig is the file that makes an agent use the proxy.
	Kubeconfig string

	requests, in, out atomic.Int64

	mu     sync.Mutex
	all    []*record
	server *http.Server
	done   chan struct{}
}

// record is a Request that may still be in progress.
type record struct {
	Request
	answered bool
	out      atomic.Int64
}

// Start starts a proxy for the node of an instance. Close stops it.
func Start(i *instance.Instance) (*Recorder, error) {
	key := func(name string) string { return filepath.Join(i.Dir, "k8s", name) }
	ca, err := tls.LoadX509KeyPair(key("ca.crt"), key("ca.key"))
	if err != nil {
		return nil, err
	}
	node, err := tls.LoadX509KeyPair(key("node.crt"), key("node.key"))
	if err != nil {
		return nil, err
	}
	serving, err := issue(ca)
	if err != nil {
		return nil, err
	}
	target, err := url.Parse(i.Env["APISERVER"])
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AddCert(ca.Leaf)
	r := &Recorder{Kubeconfig: filepath.Join(i.Dir, "recorder.kubeconfig"), done: make(chan struct{})}
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{
			Certificates: []tls.Certificate{node}, RootCAs: pool, MinVersion: tls.VersionTLS12,
		},
		ForceAttemptHTTP2: true, DisableCompression: true,
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(p *httputil.ProxyRequest) { p.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1,
		ErrorLog:      slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // a killed agent leaves watches behind, which cause errors
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r.server = &http.Server{
		Handler:           r.recording(proxy),
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{serving}, MinVersion: tls.VersionTLS12},
		ReadHeaderTimeout: time.Minute,
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	go func() {
		defer close(r.done)
		_ = r.server.ServeTLS(&counting{listener, r}, "", "") // it returns after Close
		transport.CloseIdleConnections()
	}()
	own, err := os.ReadFile(i.Env["NODE_KUBECONFIG"])
	if err == nil {
		text := strings.Replace(string(own), i.Env["APISERVER"], "https://"+listener.Addr().String(), 1)
		err = os.WriteFile(r.Kubeconfig, []byte(text), 0o600)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// issue makes a certificate for a server on 127.0.0.1.
func issue(ca tls.Certificate) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: "recorder"},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca.Leaf, key.Public(), ca.PrivateKey)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// recording records the requests to a handler, in the order in which their answers begin.
func (r *Recorder) recording(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.requests.Add(1)
		body, err := io.ReadAll(q.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		q.Body = io.NopCloser(bytes.NewReader(body))
		entry := &record{Request: Request{
			Method: q.Method, Path: q.URL.Path, Query: q.URL.RawQuery, Body: body, BytesIn: int64(len(body)), At: time.Now(),
		}}
		next.ServeHTTP(&answer{ResponseWriter: w, to: r, entry: entry}, q)
		r.note(entry, 0)
	})
}

// note records a request once, when its answer begins.
func (r *Recorder) note(entry *record, code int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !entry.answered {
		entry.answered, entry.Code = true, code
		r.all = append(r.all, entry)
	}
}

// Add records a request that did not go through the proxy.
func (r *Recorder) Add(q Request) { r.note(&record{Request: q}, q.Code) }

// Requests returns the requests that were answered so far, and removes them from the record.
func (r *Recorder) Requests() (all []Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, entry := range r.all {
		entry.BytesOut = entry.out.Load()
		all = append(all, entry.Request)
	}
	r.all = nil
	return all
}

// Total returns the traffic since Start.
func (r *Recorder) Total() Total {
	return Total{Requests: r.requests.Load(), BytesIn: r.in.Load(), BytesOut: r.out.Load()}
}

// Close stops the proxy and closes its connections.
func (r *Recorder) Close() error {
	err := r.server.Close()
	<-r.done
	return errors.Join(err, os.RemoveAll(r.Kubeconfig))
}

// answer records the code and the length of an answer.
type answer struct {
	http.ResponseWriter
	to    *Recorder
	entry *record
}

func (a *answer) WriteHeader(code int) {
	a.to.note(a.entry, code)
	a.ResponseWriter.WriteHeader(code)
}

func (a *answer) Write(text []byte) (int, error) {
	n, err := a.ResponseWriter.Write(text)
	a.entry.out.Add(int64(n))
	return n, err
}

// Unwrap lets http.ResponseController flush.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// counting counts the bytes of all connections of a listener.
type counting struct {
	net.Listener
	to *Recorder
}

func (c *counting) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	return &counted{conn, c.to}, nil
}

type counted struct {
	net.Conn
	to *Recorder
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.to.in.Add(int64(n))
	return n, err
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.to.out.Add(int64(n))
	return n, err
}
