package http

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	nethttp "net/http"
	"net/url"
	"time"

	"github.com/wardlet/wardlet/core/manifest"
)

// client sends the requests of one source. It is used by one goroutine.
type client struct {
	cfg *Config
	// limit is the greatest size of a body, in bytes.
	limit int64
	// own is the transport for the URL's own server, foreign for servers that it redirects to; nil
	// before the first request. Both are made from files, and made again when the files have
	// changed.
	own, foreign *nethttp.Transport
	files        *credentials
	connections  connections
}

// The size of the headers that a server may send, and the time for which an idle connection is kept
// for the next request.
const (
	maxHeaderBytes = 64 << 10
	idleTimeout    = 5 * time.Minute
)

func newClient(c *Config) *client {
	return &client{cfg: c, limit: manifest.MaxManifest, connections: connections{timeout: c.Timeout}}
}

// get requests the manifest. The error names the URL and the remedy.
func (c *client) get(ctx context.Context, v validators) (answer, error) {
	at, err := url.Parse(c.cfg.URL)
	if err != nil {
		return answer{}, fmt.Errorf("%s is no URL: %w", c.cfg.URL, err)
	}
	if err := c.prepare(); err != nil {
		return answer{}, fmt.Errorf("%s was not asked: %w", c.cfg.URL, err)
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	a, err := c.follow(ctx, at, v)
	if err != nil {
		// A connection that no longer responds must not fail the next request, too.
		c.disconnect(false)
		return answer{}, fmt.Errorf("%s: %w", c.cfg.URL, c.explain(ctx, err))
	}
	return a, nil
}

// prepare reads the files, and makes new transports if the files have changed.
func (c *client) prepare() error {
	files, err := readCredentials(c.cfg)
	if err != nil {
		return err
	}
	if c.own != nil && bytes.Equal(files.ca, c.files.ca) && bytes.Equal(files.cert, c.files.cert) && bytes.Equal(files.key, c.files.key) {
		c.files = files
		return nil
	}
	config, err := files.tlsConfig(c.cfg)
	if err != nil {
		return err
	}
	c.disconnect(false)
	transport := &nethttp.Transport{
		Proxy:                  nethttp.ProxyFromEnvironment,
		DialContext:            c.connections.dial,
		TLSClientConfig:        config,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           1,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
	c.files, c.own, c.foreign = files, transport, transport.Clone()
	c.foreign.TLSClientConfig.Certificates = nil
	return nil
}

// ask sends one request. The secret headers and the client certificate are sent only to the URL's
// own server.
func (c *client) ask(ctx context.Context, at, home *url.URL, v validators) (*nethttp.Response, error) {
	req, err := nethttp.NewRequestWithContext(ctx, nethttp.MethodGet, at.String(), nethttp.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "wardlet")
	transport := c.foreign
	if sameOrigin(at, home) {
		transport = c.own
		maps.Copy(req.Header, c.files.headers)
	}
	v.set(req)
	return transport.RoundTrip(req)
}

// close closes the connections of earlier requests. No further request may follow.
func (c *client) close() { c.disconnect(true) }

func (c *client) disconnect(ended bool) {
	if c.own != nil {
		c.own.CloseIdleConnections()
		c.foreign.CloseIdleConnections()
	}
	c.connections.closeAll(ended)
}
