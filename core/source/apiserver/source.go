package apiserver

import (
	"context"
	"errors"
	"log/slog"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/kube"
	"github.com/wardlet/wardlet/core/manifest"
	"github.com/wardlet/wardlet/core/source"
)

// Config says what to watch and where to deliver it.
type Config struct {
	// Name is the source's name in agent.toml.
	Name string
	// NodeName is this node's name.
	NodeName string
	// Client is the client of the API server. The source does not close it.
	Client *kube.Client
	Sink   source.Sink
	// MaxBackoff is the MaxBackoff of kube.Selection.
	MaxBackoff time.Duration
	Logger     *slog.Logger
	// Now is the clock. The default is time.Now.
	Now func() time.Time
}

// Source watches the pods of this node. Use New to create one.
type Source struct {
	cfg Config
	out *outlet
}

// New returns a source. Run starts it.
func New(c Config) (*Source, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.NodeName == "" {
		return nil, errors.New("the node's name is empty")
	}
	c.Logger = c.Logger.With("source", c.Name)
	return &Source{cfg: c, out: &outlet{sink: c.Sink, server: c.Client.Server(), log: c.Logger, now: c.Now}}, nil
}

// Run lists, watches and delivers until ctx is done, and then returns nil. It fails only with an
// error of the sink. It can run only once.
func (s *Source) Run(ctx context.Context) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	s.out.begin(inner, cancel)
	s.cfg.Client.Follow(inner, &kube.Selection{
		GroupVersion: v1.SchemeGroupVersion, Resource: "pods",
		FieldSelector: fields.OneTermEqualSelector("spec.nodeName", s.cfg.NodeName).String(),
		Object:        &v1.Pod{}, List: &v1.PodList{},
		Good: s.out.good, Bad: s.out.bad, MaxBackoff: s.cfg.MaxBackoff,
	}, &store{out: s.out, from: s.from(), cluster: cluster{pods: map[types.UID]bool{}, now: s.cfg.Now, uid: func() (types.UID, error) {
		return s.cfg.Client.ClusterUID(inner)
	}}})
	if ctx.Err() != nil {
		return nil
	}
	return s.out.failure()
}

func (s *Source) from() manifest.APIFrom {
	return manifest.APIFrom{Source: s.cfg.Name, Server: s.cfg.Client.Server(), NodeName: s.cfg.NodeName}
}
