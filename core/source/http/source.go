package http

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/manifest"
	"github.com/wardlet/wardlet/core/source"
)

// The defaults of Config.
const (
	DefaultPeriod  = 20 * time.Second
	DefaultTimeout = 10 * time.Second
)

// Config says what to request and where to deliver it.
type Config struct {
	// Name is the source's name in agent.toml.
	Name string
	// URL is http or https, without user and fragment.
	URL string
	// NodeName is this node's name.
	NodeName string
	// Namespaces are the namespaces that documents may have, as in manifest.DecodeFrom.
	Namespaces []string
	Sink       source.Sink
	// Period is the time between readings. The default is DefaultPeriod.
	Period time.Duration
	// Timeout limits one reading, including redirects and body. The default is DefaultTimeout.
	Timeout time.Duration
	// HeaderFile has the headers to send, one "Name: value" per line.
	HeaderFile string
	// CAFile has the authorities that are trusted in place of the system's.
	CAFile string
	// ClientCertFile and ClientKeyFile are the client certificate for servers that ask for one. Set
	// both or neither.
	ClientCertFile, ClientKeyFile string
	Logger                        *slog.Logger
	// Jitter stretches a delay by up to half of it. The default is no jitter.
	Jitter func(time.Duration) time.Duration
}

// Source requests a manifest from a server. Use New to create one.
type Source struct {
	cfg Config
	// fetch requests a body, close closes the remaining connections.
	fetch func(context.Context, validators) (answer, error)
	close func()
	// delivered is the answer that was delivered last, refused the last body that could not be
	// used.
	delivered delivered
	refused   refused
	// whole: an answer had all of the source's pods.
	whole bool
	// failures is the number of failed readings since the last good one.
	failures int
	// late limits the log lines about failed readings, bad those about bad documents.
	late, bad throttle
}

// delivered is the state of an answer that was delivered, zero before the first one.
type delivered struct {
	validators validators
	sum        [sha256.Size]byte
	faults     faults
}

// refused is the state of a body that could not be used, zero before the first one.
type refused struct {
	sum [sha256.Size]byte
	err error
}

// New returns a source. Run starts it.
func New(c Config) *Source {
	if c.Period <= 0 {
		c.Period = DefaultPeriod
	}
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Jitter == nil {
		c.Jitter = func(d time.Duration) time.Duration { return d }
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Logger = c.Logger.With("source", c.Name)
	client := newClient(&c)
	return &Source{cfg: c, fetch: client.get, close: client.close}
}

// Run reads and delivers until ctx is done, and then returns nil. It fails only with an error of
// the sink.
func (s *Source) Run(ctx context.Context) error {
	defer s.close()
	for ctx.Err() == nil {
		if err := s.look(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		wait(ctx, s.pause())
	}
	return nil
}

// look reads once and delivers the answer if it is new. It fails only with an error of the sink.
func (s *Source) look(ctx context.Context) error {
	a, err := s.fetch(ctx, s.delivered.validators)
	if err != nil {
		s.fail(ctx, err)
		return nil
	}
	sum := sha256.Sum256(a.body)
	switch {
	case a.unchanged:
	case sum == s.delivered.sum:
		s.delivered.validators = a.validators
	case sum == s.refused.sum:
		s.fail(ctx, s.refused.err)
		return nil
	default:
		return s.take(ctx, a, sum)
	}
	s.succeed(ctx)
	return nil
}

// take decodes a new body and delivers it.
func (s *Source) take(ctx context.Context, a answer, sum [sha256.Size]byte) error {
	r, err := read(a, s.from())
	if err != nil {
		s.refused = refused{sum, err}
		s.fail(ctx, err)
		return nil
	}
	s.bad.news()
	s.delivered = delivered{validators: a.validators, sum: sum, faults: r.faults()}
	s.whole = s.whole || r.whole
	if err := s.deliver(ctx, r); err != nil {
		return err
	}
	s.succeed(ctx)
	return nil
}

func (s *Source) from() manifest.DecodeFrom {
	return manifest.DecodeFrom{
		Source: s.cfg.Name, Kind: api.KindHTTP, File: s.cfg.URL, NodeName: s.cfg.NodeName, Namespaces: s.cfg.Namespaces,
	}
}
