package agent

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/config/reload"
	"github.com/wardlet/wardlet/core/instrument"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/parts"
)

// muxConfig is what the mux is made from: all sources, the disk, and policy
// where there is any.
func (a *Agent) muxConfig() mux.Config {
	c := mux.Config{
		Documents: a.state.Documents(), Waits: a.waits, Jitter: parts.Jitter,
		StopDenied: reload.StopsDenied(a.cfg), Changed: a.podChanges.Notify, Running: a.isRunning, Logger: a.log, Now: time.Now,
	}
	for i := range a.cfg.Sources {
		s := &a.cfg.Sources[i]
		c.Sources = append(c.Sources, mux.Source{Name: s.Name, Kind: s.Kind, Location: s.Location()})
	}
	if a.cfg.Conflicts.Rule == config.ConflictsPrecedence {
		c.Precedence = a.cfg.Conflicts.Precedence
	}
	c.Gate, c.Filter, c.UpdatesOnly = a.gates(), a.filter(), a.policies == nil
	if a.policies != nil {
		c.Resolver, c.Resolutions = instrument.Resolver{Resolver: a.policies.Rules().Telling(a.meters.Verdicts.Spent), Meters: a.meters}, a.state.Resolutions()
	}
	return c
}

// isRunning reports whether containers of a pod run.
func (a *Agent) isRunning(uid types.UID) bool {
	st, ok := a.statuses.Get(uid)
	return ok && st.Phase == v1.PodRunning
}

// makeSources makes the sources of the configuration, in its order.
func (a *Agent) makeSources() ([]parts.Source, error) {
	var sources []parts.Source
	for i := range a.cfg.Sources {
		s := &a.cfg.Sources[i]
		sink, err := a.mux.Sink(s.Name)
		if err != nil {
			return nil, err
		}
		run, err := parts.NewSource(s, parts.SourceSetting{
			Node: a.node, Namespaces: a.cfg.Namespaces(s), Sink: sink, Ignored: sink.Ignored, Place: a.state.Place(s.Name), Log: a.log,
		})
		if err != nil {
			return nil, fmt.Errorf("source %s: %w", s.Name, err)
		}
		sources = append(sources, run)
	}
	return sources, nil
}
