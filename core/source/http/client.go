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
	// own is for the URL's own server, foreign for those it redirects to; nil
	// before the first request. They are made from files, and anew when the
	// files have changed.
	own, foreign *nethttp.Transport
	files        *credentials
	connections  connections
}

// What a server may take of this node's memory beside the body, and how long a
// connection is kept for the next request.
const (
	maxHeaderBytes = 64 << 10
	idleTimeout    = 5 * time.Minute
)

func newClient(c *Config) *client {
	return &client{cfg: c, limit: manifest.MaxManifest, connections: connections{timeout: c.Timeout}}
}

// get asks for the manifest. The error names the URL and says what to do.
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
		// A connection that has gone silent must not fail the next request too.
		c.disconnect(false)
		return answer{}, fmt.Errorf("%s: %w", c.cfg.URL, c.explain(ctx, err))
	}
	return a, nil
}

// prepare reads the files, and makes new transports where they differ.
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

// ask sends one request. What is secret goes to the URL's own server only.
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

// close ends what is left of earlier requests; there must be no further one.
func (c *client) close() { c.disconnect(true) }

func (c *client) disconnect(ended bool) {
	if c.own != nil {
		c.own.CloseIdleConnections()
		c.foreign.CloseIdleConnections()
	}
	c.connections.closeAll(ended)
}
