package handler

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// maxHeader is how much a server may send before the body of its answer, in bytes.
const maxHeader = 64 << 10

// maxInterim is how many answers of 100 to 199 may come before the one that counts.
const maxInterim = 5

// oneRequest has no connections that stay, so that each request finds out whether the server takes a new one, and does not
// check who answers: a container's certificate is for its clients, not for its node.
var oneRequest = func() http.RoundTripper {
	t := &http.Transport{
		TLSClientConfig:        &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // as a kubelet
		ForceAttemptHTTP2:      true,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		Proxy:                  nil,
		DialContext:            dial,
		MaxResponseHeaderBytes: maxHeader,
	}
	t.RegisterProtocol("http", plain{})
	return t
}()

// dialer sets nothing for connections that stay, because none does.
var dialer = &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: false}, KeepAlive: -1, FallbackDelay: -1}

// dial connects so that closing does not wait: thousands of probes a minute would leave as many ports behind.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := dialer.DialContext(ctx, network, address)
	if c, ok := conn.(*net.TCPConn); ok {
		_ = c.SetLinger(0)
	}
	return conn, err
}

// plain sends requests over HTTP, each on a connection of its own and on its caller's goroutine. The goroutines that an
// http.Transport has for a connection that may stay are a third of the cost of a probe.
type plain struct{}

func (plain) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, address := req.Context(), req.URL.Host
	if req.URL.Port() == "" {
		address = net.JoinHostPort(req.URL.Hostname(), "80")
	}
	conn, err := dial(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	o := &once{conn: conn, ctx: ctx, head: io.LimitedReader{R: conn, N: maxHeader}}
	o.stop = context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	resp, err := o.exchange(req)
	if err != nil {
		_ = o.Close()
		return nil, err
	}
	return resp, nil
}

// once is a connection for one request, and the body of its answer.
type once struct {
	conn net.Conn
	ctx  context.Context //nolint:containedctx // that of the request, whose answer this is
	stop func() bool
	head io.LimitedReader
	body io.ReadCloser
}

// exchange sends the request and reads the answer up to its body.
func (o *once) exchange(req *http.Request) (*http.Response, error) {
	last := *req
	last.Close = true
	var text bytes.Buffer
	err := last.Write(&text)
	if err == nil {
		_, err = o.conn.Write(text.Bytes())
	}
	if err != nil {
		return nil, o.explain(err)
	}
	reader := bufio.NewReaderSize(&o.head, 1<<10)
	for range maxInterim {
		resp, err := http.ReadResponse(reader, req)
		switch {
		case err != nil && o.head.N <= 0:
			return nil, errors.New("the header of the answer is longer than 65536 bytes")
		case err != nil:
			return nil, o.explain(err)
		case resp.StatusCode >= http.StatusOK || resp.StatusCode == http.StatusSwitchingProtocols:
			o.head.N = 1<<63 - 1
			o.body, resp.Body = resp.Body, o
			return resp, nil
		}
	}
	return nil, errors.New("no answer came, only interim ones")
}

// explain names the end of the context as the cause of an error that it has brought about.
func (o *once) explain(err error) error {
	if cause := o.ctx.Err(); cause != nil {
		return cause
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF // as an http.Transport says it of a server that closes the connection
	}
	return err
}

func (o *once) Read(p []byte) (int, error) {
	n, err := o.body.Read(p)
	if err != nil && !errors.Is(err, io.EOF) && o.ctx.Err() != nil {
		err = o.ctx.Err()
	}
	return n, err
}

// Close closes the connection without reading what is left of the body.
func (o *once) Close() error {
	o.stop()
	return o.conn.Close()
}
