package apiserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/wardlet/wardlet/core/manifest"
	"github.com/wardlet/wardlet/core/source"
)

// Config says what to watch and where it goes.
type Config struct {
	// Name is the source's name in agent.toml.
	Name string
	// NodeName is this node's name.
	NodeName string
	// Server is the URL of the API server: https, or http to an address of
	// this machine.
	Server string
	// CAFile holds the certificates that the server's must be signed by. The
	// default are those of the system.
	CAFile string
	// TokenFile holds a bearer token.
	TokenFile string
	// CertFile and KeyFile hold a client certificate and its key, both or
	// neither.
	CertFile, KeyFile string
	Sink              source.Sink
	// MaxBackoff is the greatest time between attempts at a server that does
	// not answer well, but for up to half of it at random. The default is
	// DefaultMaxBackoff.
	MaxBackoff time.Duration
	Logger     *slog.Logger
	// Now is the clock for what is logged. The default is time.Now.
	Now func() time.Time
}

// Source watches the pods of this node. Make it with New.
type Source struct {
	cfg    Config
	out    *outlet
	client *client
	// backoff is the time between attempts.
	backoff wait.Backoff
}

// DefaultMaxBackoff is the default of Config.MaxBackoff.
const DefaultMaxBackoff = 20 * time.Second

const (
	firstBackoff = time.Second
	// backoffReset is how long nothing must have failed until the times begin
	// anew.
	backoffReset = time.Minute
)

// New makes a source; Run starts it. It fails for what no later change of a
// file could mend. Files are first read by Run.
func New(c Config) (*Source, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.MaxBackoff <= 0 {
		c.MaxBackoff = DefaultMaxBackoff
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.NodeName == "" {
		return nil, errors.New("the node's name is empty")
	}
	if err := checkServer(&c); err != nil {
		_, shown, password := strings.Cut(c.Server, "@")
		if !password {
			shown = c.Server
		}
		return nil, fmt.Errorf("API server %q: %w", shown, err)
	}
	c.Logger = c.Logger.With("source", c.Name)
	out := &outlet{sink: c.Sink, server: c.Server, log: c.Logger, now: c.Now}
	client, err := newClient(&c, out)
	if err != nil {
		return nil, err
	}
	return &Source{cfg: c, out: out, client: client, backoff: wait.Backoff{
		Duration: min(firstBackoff, c.MaxBackoff), Cap: c.MaxBackoff, Factor: 2, Jitter: 0.5, Steps: 10,
	}}, nil
}

// checkServer looks for what can only be a mistake.
func checkServer(c *Config) error {
	u, err := url.Parse(c.Server)
	switch {
	case err != nil:
		return errors.Unwrap(err)
	case u.Host == "":
		return errors.New("not a URL with a host; write https://HOST:PORT")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return errors.New("user, query and fragment are not supported; use a token or certificate file")
	case (c.CertFile == "") != (c.KeyFile == ""):
		return errors.New("a client certificate needs both a certificate and a key file")
	case u.Scheme == "https":
		return nil
	case u.Scheme != "http":
		return fmt.Errorf("the scheme %q is not supported; use https", u.Scheme)
	case c.TokenFile != "" || c.CertFile != "" || c.CAFile != "":
		return errors.New("credentials and certificates are not used over http; use https")
	case !loopback(u.Hostname()):
		return errors.New("http is only for a proxy on this machine (127.0.0.1, ::1); use https")
	}
	return nil
}

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback() || net.ParseIP(host) == nil && host == "localhost"
}

// Run lists, watches and delivers until ctx is done; then it ends with nil. It
// fails only with an error of the sink. It runs once.
func (s *Source) Run(ctx context.Context) error {
	defer s.client.close()
	inner, cancel := context.WithCancel(logr.NewContext(ctx, logr.FromSlogHandler(quiet{s.cfg.Logger.Handler()})))
	defer cancel()
	s.out.begin(inner, cancel)
	reflector := cache.NewReflectorWithOptions(s.client, &v1.Pod{}, &store{out: s.out, from: s.from()}, cache.ReflectorOptions{
		Name: s.cfg.Name, TypeDescription: "pods of " + s.cfg.NodeName, Backoff: &s.backoff,
	})
	delay := s.backoff.DelayWithReset(clock.RealClock{}, backoffReset)
	_ = delay.Until(inner, true, true, func(ctx context.Context) (bool, error) {
		// The client has reported what went wrong.
		if err := reflector.ListAndWatchWithContext(ctx); err != nil {
			s.cfg.Logger.Debug("list and watch ended", "err", err)
		}
		return false, nil
	})
	if ctx.Err() != nil {
		return nil
	}
	return s.out.failure()
}

func (s *Source) from() manifest.APIFrom {
	return manifest.APIFrom{Source: s.cfg.Name, Server: s.cfg.Server, NodeName: s.cfg.NodeName}
}
