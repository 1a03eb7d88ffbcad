package agent

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/source"
	"github.com/wardlet/wardlet/core/source/apiserver"
	"github.com/wardlet/wardlet/core/source/file"
	"github.com/wardlet/wardlet/core/source/http"
)

// muxConfig is what the mux is made from: all sources, the disk, and policy
// where there is any.
func (a *Agent) muxConfig() mux.Config {
	c := mux.Config{
		Documents: a.state.Documents(), Waits: a.waits, Jitter: jitter,
		StopDenied: stopsDenied(a.cfg), Changed: a.podChanges.Notify, Running: a.isRunning, Logger: a.log, Now: time.Now,
	}
	for i := range a.cfg.Sources {
		s := &a.cfg.Sources[i]
		c.Sources = append(c.Sources, mux.Source{Name: s.Name, Kind: s.Kind, Location: s.Location()})
	}
	if a.cfg.Conflicts.Rule == config.ConflictsPrecedence {
		c.Precedence = a.cfg.Conflicts.Precedence
	}
	c.Gate, c.UpdatesOnly = a.standing(open{}), true
	if a.adoption != nil {
		c.UpdatesOnly = false
		c.Gate, c.Resolver, c.Resolutions = a.adoption, meteredRules{a.policies.Rules().Telling(a.meters.verdicts.Spent), a.meters}, a.state.Resolutions()
	}
	return c
}

// isRunning reports whether containers of a pod run.
func (a *Agent) isRunning(uid types.UID) bool {
	st, ok := a.statuses.Get(uid)
	return ok && st.Phase == v1.PodRunning
}

func sourceNames(cfg *config.Config) []string {
	var names []string
	for _, s := range cfg.Sources {
		names = append(names, s.Name)
	}
	return names
}

// runner is a source of any kind. Run reads and delivers until ctx is done;
// then it ends with nil.
type runner interface {
	Run(ctx context.Context) error
}

// makeSources makes the sources of the configuration, in its order.
func (a *Agent) makeSources() ([]runner, error) {
	var sources []runner
	for i := range a.cfg.Sources {
		s := &a.cfg.Sources[i]
		sink, err := a.mux.Sink(s.Name)
		if err != nil {
			return nil, err
		}
		run, err := newSource(s, sourceSetting{
			node: a.node, namespaces: a.cfg.Namespaces(s), sink: sink, ignored: sink.Ignored, place: a.state.Place(s.Name), log: a.log,
		})
		if err != nil {
			return nil, fmt.Errorf("source %s: %w", s.Name, err)
		}
		sources = append(sources, run)
	}
	return sources, nil
}

// The bounds of a tenant's directory, which the tenant fills, not the operator.
const (
	tenantFiles = 2048
	tenantBytes = 32 << 20
)

// maxFiles and maxBytes bound a directory; zero is the default of package file.
func maxFiles(s *config.Source) int {
	if s.Tenant != "" {
		return tenantFiles
	}
	return 0
}

func maxBytes(s *config.Source) int64 {
	if s.Tenant != "" {
		return tenantBytes
	}
	return 0
}

// sourceSetting is what a source needs beside its configuration.
type sourceSetting struct {
	node       string
	namespaces []string
	sink       source.Sink
	// ignored takes what a directory holds that is not read.
	ignored func(*api.Ignored)
	// place and log are nil for a source that is read once.
	place file.Place
	log   *slog.Logger
}

// newSource makes a source of its kind.
func newSource(s *config.Source, with sourceSetting) (runner, error) {
	switch s.Kind {
	case config.KindFile:
		return file.New(file.Config{
			Name: s.Name, Path: s.Path, NodeName: with.node, Namespaces: with.namespaces, Sink: with.sink, Period: s.Period,
			MissingEmpty: s.MissingPath == config.MissingEmpty, Place: with.place, Ignored: with.ignored, Logger: with.log, Now: time.Now,
			MaxFiles: maxFiles(s), MaxBytes: maxBytes(s),
		}), nil
	case config.KindHTTP:
		return http.New(http.Config{
			Name: s.Name, URL: s.URL, NodeName: with.node, Namespaces: with.namespaces, Sink: with.sink,
			Period: s.Period, Timeout: s.Timeout, HeaderFile: s.HeaderFile,
			CAFile: s.CAFile, ClientCertFile: s.ClientCertFile, ClientKeyFile: s.ClientKeyFile,
			Logger: with.log, Jitter: jitter,
		}), nil
	case config.KindAPI:
		return apiserver.New(apiserver.Config{
			Name: s.Name, NodeName: with.node, Server: s.URL, CAFile: s.CAFile, TokenFile: s.TokenFile,
			CertFile: s.ClientCertFile, KeyFile: s.ClientKeyFile, Sink: with.sink, Logger: with.log, Now: time.Now,
		})
	}
	return nil, fmt.Errorf("kind %q has no reader", s.Kind)
}
