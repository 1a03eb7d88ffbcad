package kube

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
)

// Config names the API server, and has the credentials.
type Config struct {
	// Server is the URL of the API server: https, or http to an address of this machine.
	Server string
	// ServerName is the name that the server's certificate must have; empty for the host of Server.
	ServerName  string
	Credentials Credentials
	// MaxAnswer is the maximum size of an answer that is no watch, and MaxEvent that of a watch's
	// event, in bytes. 0 means DefaultMaxAnswer and DefaultMaxEvent.
	MaxAnswer, MaxEvent int64
	Logger              *slog.Logger
}

// The default maximum sizes. A node's pods need about a hundredth of that.
const (
	DefaultMaxAnswer = 64 << 20
	DefaultMaxEvent  = 16 << 20
)

// The rate limit of one client per second, and its burst, as in a kubelet.
const (
	requestsPerSecond = 50
	requestsAtOnce    = 100
)

// Client sends requests to one API server. It is safe for concurrent use. New creates it; it must
// be closed with Close.
type Client struct {
	server    string
	transport *transport
	groups    map[schema.GroupVersion]*rest.RESTClient
	log       *slog.Logger
	// clusters is shared by the clients of a server.
	clusters *clusters
	ca       Material
}

// New returns a client. It returns an error only for faults that no later change of a file can
// repair. The files are first read by a request.
func New(c Config) (*Client, error) {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("API server %q: %w", withoutUser(c.Server), err)
	}
	k := &Client{server: c.Server, transport: newTransport(&c), log: c.Logger, groups: map[schema.GroupVersion]*rest.RESTClient{}, clusters: &clusters{}, ca: c.Credentials.CA}
	if err := k.connect(); err != nil {
		return nil, err
	}
	return k, nil
}

// OwnRate returns a client of the same server over the same connection, with a separate rate limit,
// so that its requests and those of c do not delay each other. It may be used as long as c, and
// must not be closed.
func (c *Client) OwnRate() (*Client, error) {
	own := &Client{server: c.server, transport: c.transport, groups: map[schema.GroupVersion]*rest.RESTClient{}, log: c.log, clusters: c.clusters, ca: c.ca}
	return own, own.connect()
}

// connect creates the REST clients of all groups, with a shared rate limit.
func (c *Client) connect() error {
	limiter := flowcontrol.NewTokenBucketRateLimiter(requestsPerSecond, requestsAtOnce)
	for _, gv := range groupVersions {
		r, err := rest.RESTClientForConfigAndClient(&rest.Config{
			Host:    c.server,
			APIPath: apiPath(gv),
			ContentConfig: rest.ContentConfig{
				GroupVersion:         &gv,
				NegotiatedSerializer: codecs(),
				ContentType:          runtime.ContentTypeProtobuf,
				AcceptContentTypes:   runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON,
			},
			UserAgent:      "wardlet",
			RateLimiter:    limiter,
			WarningHandler: rest.NoWarnings{},
		}, &http.Client{Transport: c.transport, CheckRedirect: refuseRedirect})
		if err != nil {
			return fmt.Errorf("API server %q: %w", c.server, err)
		}
		c.groups[gv] = r
	}
	return nil
}

// apiPath returns the URL path of a group's resources.
func apiPath(gv schema.GroupVersion) string {
	if gv.Group == "" {
		return "/api"
	}
	return "/apis"
}

// check reports values that can only be mistakes.
func (c *Config) check() error {
	u, err := url.Parse(c.Server)
	switch {
	case err != nil:
		return errors.Unwrap(err)
	case u.Host == "":
		return errors.New("not a URL with a host; write https://HOST:PORT")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return errors.New("user, query and fragment are not supported; use a token or a client certificate")
	case c.Credentials.Cert.given() != c.Credentials.Key.given():
		return errors.New("a client certificate needs both a certificate and a key")
	case u.Scheme == "https":
		return nil
	case u.Scheme != "http":
		return fmt.Errorf("the scheme %q is not supported; use https", u.Scheme)
	case c.Credentials != Credentials{}:
		return errors.New("credentials and certificates are not used over http; use https")
	case !loopback(u.Hostname()):
		return errors.New("http is only for a proxy on this machine (127.0.0.1, ::1); use https")
	}
	return nil
}

// withoutUser returns a URL without its user and password.
func withoutUser(server string) string {
	if _, shown, password := strings.Cut(server, "@"); password {
		return shown
	}
	return server
}

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback() || net.ParseIP(host) == nil && host == "localhost"
}

func refuseRedirect(r *http.Request, _ []*http.Request) error {
	return fmt.Errorf("redirects to %s; redirects are not followed", r.URL.Redacted())
}

// Server returns the URL of the API server.
func (c *Client) Server() string { return c.server }

// Request returns a request with an HTTP method for a resource of gv, which must be in the scheme.
// The request is sent once, whatever the answer.
func (c *Client) Request(method string, gv schema.GroupVersion) *rest.Request {
	return c.groups[gv].Verb(method).MaxRetries(0)
}

// Close closes the idle connections. All requests and calls of Follow must have ended.
func (c *Client) Close() { c.CloseIdle() }

// CloseIdle closes the idle connections, so that the next request opens a new one.
func (c *Client) CloseIdle() { c.transport.closeIdle() }
