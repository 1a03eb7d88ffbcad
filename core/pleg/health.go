package pleg

import (
	"errors"
	"fmt"
	"time"
)

// Dropped counts the events that did not fit.
func (g *Generator) Dropped() uint64 { return g.dropped.Load() }

// Listed is when the last good full list was begun, zero if there was none.
func (g *Generator) Listed() time.Time {
	if at := g.listedAt.Load(); at != nil {
		return *at
	}
	return time.Time{}
}

// Streaming reports whether the runtime's events are relied on.
func (g *Generator) Streaming() bool { return g.streaming.Load() }

// Healthy fails when the runtime has not answered a list for too long, whether
// it tells of its events or not.
func (g *Generator) Healthy() error {
	at := g.Listed()
	if at.IsZero() {
		return g.withFault(errors.New("pleg: the runtime has yet to be listed successfully"))
	}
	if age := g.cfg.Now().Sub(at); age > g.cfg.Threshold {
		return g.withFault(fmt.Errorf("pleg: the runtime was last listed %s ago, more than %s; check the runtime",
			age.Round(time.Second), g.cfg.Threshold))
	}
	return nil
}

// withFault adds why the last list failed.
func (g *Generator) withFault(err error) error {
	if fault := g.listFault.Load(); fault != nil {
		return fmt.Errorf("%w: %w", err, *fault)
	}
	return err
}
