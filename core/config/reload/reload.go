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
	// settleTime is the time for which the configuration must be unchanged before it is read.
	settleTime = 100 * time.Millisecond
	// lookPeriod is the interval at which the file is checked without a notification.
	lookPeriod = 10 * time.Second
	// restlessTime is the time after which a file that keeps changing is reported.
	restlessTime = 10 * time.Second
)

// Reload configures how a running agent follows its configuration.
type Reload struct {
	// Path is the file of the configuration.
	Path string
	// Level is the level of Options.Logger.
	Level *slog.LevelVar
	// Asked has a value when the file is to be read at once, even if it seems unchanged. It is nil if
	// there are no such requests.
	Asked <-chan os.Signal
	// Load reads the configuration; nil for config.Load.
	Load func(path string) (*config.Config, error)
}

// Outcome is the result of reading the configuration again.
type Outcome struct {
	// Applied are the changes that took effect.
	Applied []config.Change `json:"applied,omitempty"`
	// Restart are all changes that need a restart: the differences between the file and the
	// configuration in force.
	Restart []config.Change `json:"restart,omitempty"`
}

var errEnded = errors.New("the agent is ending and reads no configuration any more")

// Parts are the parts of the agent that a Reloader uses.
type Parts struct {
	// Apply has the functions that apply keys; see Live.
	Apply map[string]func(*config.Config)
	// Load and Asked are those of Reload.
	Load   func(path string) (*config.Config, error)
	Asked  <-chan os.Signal
	Events status.Recorder
	Node   string
	Log    *slog.Logger
	// Notify may be nil.
	Notify *systemd.Notifier
}

// Reloader applies the keys of the configuration that can change in a running agent. Fields without
// a note belong to the goroutine of Run.
type Reloader struct {
	Parts
	path  string
	load  func(path string) (*config.Config, error)
	watch *fileWatch
	// asks are requests of other goroutines; ended is closed when no more are answered.
	asks  chan chan<- answer
	ended chan struct{}

	// inForce is the configuration in force. pending has the differences of the file that need a
	// restart.
	inForce *config.Config
	pending []config.Change
	// fault is why the file is refused, empty if it is not.
	fault string

	// seen is the last observed state of the file. still decides when the file is read.
	seen  stamp
	still fswatch.Settle
	// acted is set once the content last seen was processed.
	acted bool
}

type answer struct {
	outcome Outcome
	err     error
}

// New returns a Reloader of the file at path. cfg is the configuration in force.
func New(cfg *config.Config, path string, with Parts) *Reloader {
	load := with.Load
	if load == nil {
		load = config.Load
	}
	return &Reloader{
		Parts: with, path: path, load: load, watch: newFileWatch(path, with.Log),
		asks: make(chan chan<- answer), ended: make(chan struct{}), inForce: cfg,
		still: fswatch.Settle{Time: settleTime, Restless: restlessTime},
	}
}

// Ask makes Run read the file and waits for the outcome. It may be called from any goroutine.
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
	// Changes of other files in the directory must not delay the read again and again.
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
			stir() // events may be lost
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

// look reads the file if it may have changed, and processes it if it was stable. It returns the
// delay until the next check.
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

// see records the observed state of the file.
func (r *Reloader) see(at stamp, now time.Time) {
	if at != r.seen {
		r.seen, r.acted = at, false
		r.still.Changed(now)
	}
}

// settle records that the file is stable and its content is being processed. A file that cannot be
// read is read again at the next check, because the cause may be outside the file.
func (r *Reloader) settle(fault error) {
	_, unread := errors.AsType[*fs.PathError](fault)
	r.acted = !unread
	r.still.Rest()
}

// wait returns the delay until the next check of a file that is changing.
func (r *Reloader) wait(now time.Time) time.Duration {
	if r.still.Unrest(now) {
		r.refuse(fmt.Errorf("%s keeps changing; it is read once it has stood still for %s", r.path, settleTime))
	}
	return settleTime
}

// read reads the whole file. steady is true if the file did not change during the read.
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

// tellManager logs that systemd was not notified of a reload. The reload itself is unaffected.
func (r *Reloader) tellManager(err error) {
	if err != nil {
		r.Log.Warn("systemd is not notified of a reload", "err", err)
	}
}
