package reload

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/internal/fswatch"
	"github.com/wardlet/wardlet/core/status"
	"github.com/wardlet/wardlet/core/systemd"
)

const (
	// settleTime is how long the configuration must have stood still to be
	// read.
	settleTime = 100 * time.Millisecond
	// lookPeriod is how often it is looked at without being told of a change.
	lookPeriod = 10 * time.Second
	// restlessTime is how long it may keep changing before that is reported.
	restlessTime = 10 * time.Second
)

// Reload says how an agent that runs follows its configuration.
type Reload struct {
	// Path is the file that the configuration is from.
	Path string
	// Level is that of Options.Logger.
	Level *slog.LevelVar
	// Asked has a value when the file is to be read at once, even if it seems not
	// to have changed. It is nil if there are no such requests.
	Asked <-chan os.Signal
}

// Outcome is what reading the configuration again led to.
type Outcome struct {
	// Applied are the changes that came into force by it.
	Applied []config.Change `json:"applied,omitempty"`
	// Restart are all changes that a restart would bring into force: what the
	// file says against what is in force.
	Restart []config.Change `json:"restart,omitempty"`
}

var errEnded = errors.New("the agent is ending and reads no configuration any more")

// Parts is what a Reloader works with.
type Parts struct {
	// Apply brings keys into force; see Live.
	Apply map[string]func(*config.Config)
	// Asked is that of Reload.
	Asked  <-chan os.Signal
	Events status.Recorder
	Node   string
	Log    *slog.Logger
	// Notify may be nil.
	Notify *systemd.Notifier
}

// Reloader keeps in force of the configuration what can change in an agent
// that runs. What is not said to be otherwise belongs to the goroutine of run.
type Reloader struct {
	Parts
	path  string
	load  func(path string) (*config.Config, error)
	watch *fileWatch
	// asks are questions of other goroutines; ended is closed when none is
	// answered any more.
	asks  chan chan<- answer
	ended chan struct{}

	// inForce is the configuration that the agent uses, pending what the file says
	// otherwise.
	inForce *config.Config
	pending []config.Change
	// fault is why the file is refused, empty where it is not.
	fault string

	// seen is the file as it was last looked at, still decides when it is read.
	seen  stamp
	still fswatch.Settle
	// acted: what the file says as it was last seen was acted on.
	acted bool
}

type answer struct {
	outcome Outcome
	err     error
}

// New makes a Reloader of the file at path, of which cfg is in force.
func New(cfg *config.Config, path string, with Parts) *Reloader {
	return &Reloader{
		Parts: with, path: path, load: config.Load, watch: newFileWatch(path, with.Log),
		asks: make(chan chan<- answer), ended: make(chan struct{}), inForce: cfg,
		still: fswatch.Settle{Time: settleTime, Restless: restlessTime},
	}
}

// Ask has the file read and waits for the outcome. It may be called from any
// goroutine.
func (r *Reloader) Ask(ctx context.Context) (Outcome, error) {
	back := make(chan answer, 1)
	select {
	case r.asks <- back:
		got := <-back
		return got.outcome, got.err
	case <-r.ended:
		return Outcome{}, errEnded
	case <-ctx.Done():
		return Outcome{}, ctx.Err()
	}
}

// Run follows the file until ctx ends.
func (r *Reloader) Run(ctx context.Context) error {
	defer close(r.ended)
	defer r.watch.Close()
	next := time.NewTimer(0)
	defer next.Stop()
	soon := true // next comes within settleTime
	// Other files of the directory must not put it off for ever.
	stir := func() {
		if !soon {
			soon = true
			next.Reset(settleTime)
		}
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case back := <-r.asks:
			outcome, err := r.obey()
			back <- answer{outcome, err}
		case <-r.Asked:
			_, _ = r.obey() // it is logged
		case e, ok := <-r.watch.Events():
			if !ok {
				r.watch.Close()
			}
			if !ok || r.watch.concerns(e) {
				stir()
			}
		case _, ok := <-r.watch.Errors():
			if !ok {
				r.watch.Close()
			}
			stir() // events were lost
		case <-next.C:
			delay := r.look()
			soon = delay <= settleTime
			next.Reset(delay)
		}
	}
}

// obey reads the file on request.
func (r *Reloader) obey() (Outcome, error) {
	r.tellManager(r.Notify.Reloading())
	defer func() { r.tellManager(r.Notify.Reloaded()) }()
	next, steady, err := r.read()
	if steady {
		r.settle(err)
	}
	outcome, err := r.act(next, err)
	if err == nil {
		r.Log.Info("the configuration was read again", "file", r.path, "applied", len(outcome.Applied), "need_restart", len(outcome.Restart))
	}
	return outcome, err
}

// look reads the file if it may have changed, acts on it if it stood still,
// and says when to look again.
func (r *Reloader) look() time.Duration {
	r.watch.aim()
	now := time.Now()
	r.see(stampOf(r.path), now)
	if r.acted {
		return lookPeriod
	}
	if !r.still.Still(now, now) {
		return r.wait(now)
	}
	next, steady, err := r.read()
	if !steady {
		return r.wait(now)
	}
	r.settle(err)
	_, _ = r.act(next, err) // it is logged
	return lookPeriod
}

// see records how the file looks now.
func (r *Reloader) see(at stamp, now time.Time) {
	if at != r.seen {
		r.seen, r.acted = at, false
		r.still.Changed(now)
	}
}

// settle records that the file stands still, and that what it says is being
// acted on. A file that cannot be read is read again at the next look: the
// cause may lie outside the file.
func (r *Reloader) settle(fault error) {
	_, unread := errors.AsType[*fs.PathError](fault)
	r.acted = !unread
	r.still.Rest()
}

// wait says when to look again at a file that changes just now.
func (r *Reloader) wait(now time.Time) time.Duration {
	if r.still.Unrest(now) {
		r.refuse(fmt.Errorf("%s keeps changing; it is read once it has stood still for %s", r.path, settleTime))
	}
	return settleTime
}

// read reads the file whole. It was steady if it did not change meanwhile.
func (r *Reloader) read() (next *config.Config, steady bool, fault error) {
	before := stampOf(r.path)
	if before.there && !before.regular {
		fault = fmt.Errorf("cannot read the configuration: %s is no regular file; changes of it cannot be followed", r.path)
	} else {
		next, fault = r.load(r.path)
	}
	after := stampOf(r.path)
	r.see(after, time.Now())
	return next, before == after, fault
}

// tellManager logs that systemd was not told of a reload. The reload counts.
func (r *Reloader) tellManager(err error) {
	if err != nil {
		r.Log.Warn("systemd is not notified of a reload", "err", err)
	}
}
