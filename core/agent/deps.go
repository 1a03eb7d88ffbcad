package agent

import (
	"context"
	"log/slog"
	"time"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/gc"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/pleg"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/source"
	"github.com/wardlet/wardlet/core/status"
	"github.com/wardlet/wardlet/core/syncloop"
	"github.com/wardlet/wardlet/core/worker"
)

// Deps are what an Agent stands on: the machine, or what a simulation has in its place.
// The configurations of parts hold what such a part takes from there; New adds what the
// parts take from each other and from the configuration.
type Deps struct {
	Logger *slog.Logger
	// Now is the wall clock; its times carry a monotonic reading.
	Now func() time.Time
	// Jitter stretches a delay by a random share, see worker.Config.
	Jitter   func(time.Duration) time.Duration
	Layout   pod.Layout
	Statuses *status.Store
	Events   status.Recorder
	PLEG     pleg.Config
	// Workers' OnRemoved is called between the parts of the agent: pods' waits are
	// forgotten before, what they left is collected after.
	Workers worker.Config
	// Outcomes keep over restarts how pods ended.
	Outcomes Outcomes
	// Mux has Documents and Changed. Policies adds what judges pods, once the agent's
	// other parts are made; nil for an agent where everything passes.
	Mux      mux.Config
	Policies func(a *Agent, c *mux.Config) error
	// Source makes a source of the configuration.
	Source func(s *config.Source, sink *mux.Sink) (source.Source, error)
	Loop   syncloop.Config
	// Observe returns the workers as the sync loop has them; nil for the pool itself.
	Observe func(w *worker.Pool) syncloop.Workers
	Garbage gc.Config
	// CallsEnd bounds how long calls to the runtime may go on after the agent was told to
	// end.
	CallsEnd func(ctx context.Context) (context.Context, context.CancelFunc)
}

// Outcomes keep over restarts of the agent how pods ended.
type Outcomes interface {
	worker.Outcomes
	syncloop.Outcomes
}
