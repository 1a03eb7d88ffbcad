package agent

import (
	"time"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/source/file"
)

// muxConfig is what the mux is made from: all sources, the disk, and policy
// where there is any.
func (a *Agent) muxConfig() mux.Config {
	c := mux.Config{
		Documents: a.state.Documents(), Waits: a.waits, Jitter: jitter,
		StopDenied: a.cfg.Sync.OnDeniedReplacement == config.DeniedStop, Logger: a.log, Now: time.Now,
	}
	for _, s := range a.cfg.Sources {
		c.Sources = append(c.Sources, mux.Source{Name: s.Name, Kind: s.Kind, Location: s.Path})
	}
	if a.adoption != nil {
		c.Gate = a.adoption
	}
	return c
}

func sourceNames(cfg *config.Config) []string {
	var names []string
	for _, s := range cfg.Sources {
		names = append(names, s.Name)
	}
	return names
}

func (a *Agent) fileSources() ([]*file.Source, error) {
	var sources []*file.Source
	for _, s := range a.cfg.Sources {
		sink, err := a.mux.Sink(s.Name)
		if err != nil {
			return nil, err
		}
		sources = append(sources, file.New(file.Config{
			Name: s.Name, Path: s.Path, NodeName: a.node, Sink: sink, Period: s.Period,
			MissingEmpty: s.MissingPath == config.MissingEmpty, Place: a.state.Place(s.Name), Logger: a.log, Now: time.Now,
		}))
	}
	return sources, nil
}
