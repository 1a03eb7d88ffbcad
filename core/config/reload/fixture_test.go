package reload

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/internal/fswatch"
	"github.com/wardlet/wardlet/core/policy"
	"github.com/wardlet/wardlet/core/status"
)

// firstSource is what every configuration needs.
const firstSource = "[[source]]\nname = \"static\"\nkind = \"file\"\npath = \"/manifests\"\n"

// followed is a configuration file and what follows it. In log lines and
// events, the file's directory is DIR.
type followed struct {
	t         *testing.T
	dir, path string
	r         *Reloader
	level     *slog.LevelVar
	// live says in took what it was given.
	live  *Live
	took  []string
	asked chan os.Signal
	ring  *status.EventBuffer
	// events and errors are those of the watcher, where the test makes them.
	events chan fsnotify.Event
	errors chan error
	// lines has each line of the log, without its time.
	lines chan string
	// stop ends the Reloader.
	stop func()
}

// newFollowed makes a Reloader of a file with firstSource. The test tells it
// of changes; run sets it going.
func newFollowed(t *testing.T) *followed {
	t.Helper()
	f := &followed{
		t: t, dir: t.TempDir(), level: &slog.LevelVar{}, asked: make(chan os.Signal, 1),
		ring: status.NewEventBuffer(100, time.Minute, time.Now), lines: make(chan string, 1000),
		events: make(chan fsnotify.Event, 1000), errors: make(chan error, 1),
	}
	f.live = &Live{
		Level:          f.level,
		RequestTimeout: func(d time.Duration) { f.took = append(f.took, "timeout "+d.String()) },
		SyncFrequency:  func(d time.Duration) { f.took = append(f.took, "frequency "+d.String()) },
		StopDenied:     func(stop bool) { f.took = append(f.took, fmt.Sprintf("stop %t", stop)) },
		Terms:          func(t policy.Terms) { f.took = append(f.took, fmt.Sprintf("terms %+v", t)) },
	}
	f.path = filepath.Join(f.dir, "agent.toml")
	f.replace(firstSource)
	cfg, err := config.Load(f.path)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(f, &slog.HandlerOptions{Level: f.level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	f.r = New(cfg, f.path, Parts{
		Apply: f.live.Appliers(), Asked: f.asked, Events: f.ring, Node: "edge", Log: log,
	})
	f.r.watch.Open = func() (*fswatch.Backend, error) {
		return &fswatch.Backend{
			Events: f.events, Errors: f.errors,
			Add: func(string) error { return nil }, List: func() []string { return nil }, Close: func() error { return nil },
		}, nil
	}
	return f
}

// Write takes a line of the log.
func (f *followed) Write(line []byte) (int, error) {
	f.lines <- strings.ReplaceAll(strings.TrimSuffix(string(line), "\n"), f.dir, "DIR")
	return len(line), nil
}

// run sets the Reloader going until the test ends or stop is called.
func (f *followed) run() {
	f.t.Helper()
	ctx, cancel := context.WithCancel(f.t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		if err := f.r.Run(ctx); !errors.Is(err, context.Canceled) {
			f.t.Errorf("run = %v", err)
		}
	})
	f.stop = func() { cancel(); done.Wait() }
	f.t.Cleanup(f.stop)
}

// replace puts another file in the place of the configuration.
func (f *followed) replace(text string) {
	f.t.Helper()
	temp := filepath.Join(f.dir, ".new")
	f.must(os.WriteFile(temp, []byte(text), 0o600))
	f.must(os.Rename(temp, f.path))
}

// tell is the event of a change of the configuration.
func (f *followed) tell() { f.events <- fsnotify.Event{Name: f.path, Op: fsnotify.Create} }

// settled lets so much time pass that a change is taken in. It is for tests
// in a bubble.
func (f *followed) settled() {
	f.t.Helper()
	time.Sleep(2*settleTime + time.Millisecond)
	synctest.Wait()
}

// said are the lines of the log since it was asked last.
func (f *followed) said() []string {
	var all []string
	for {
		select {
		case line := <-f.lines:
			all = append(all, line)
		default:
			return all
		}
	}
}

func (f *followed) says(want ...string) {
	f.t.Helper()
	if diff := cmp.Diff(want, f.said()); diff != "" {
		f.t.Errorf("log (-want +got):\n%s", diff)
	}
}

// hears waits for a line of the log, for less than looking now and then takes.
// It is for tests in which time is real.
func (f *followed) hears(want string) {
	f.t.Helper()
	late := time.After(lookPeriod * 3 / 4)
	var others []string
	for {
		select {
		case line := <-f.lines:
			if strings.Contains(line, want) {
				return
			}
			others = append(others, line)
		case <-late:
			f.t.Fatalf("the log does not say %q, only %q", want, others)
		}
	}
}

func (f *followed) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// told are the events, without their times, as often as they were told.
func (f *followed) told() []string {
	var all []string
	for _, e := range f.ring.List() {
		if e.Count != 1 {
			f.t.Errorf("told %d times: %+v", e.Count, e)
		}
		all = append(all, strings.ReplaceAll(e.Name+" "+e.Type+" "+e.Reason+" "+e.Message, f.dir, "DIR"))
	}
	return all
}

// levelLine is what is said of another level.
func levelLine(was, is string) string {
	return `level=INFO msg="the configuration changed" key=log_level was=` + was + ` is=` + is
}

// faultLine is what is said of a file that is refused.
func faultLine(text string) string {
	return `level=ERROR msg="the configuration is refused; what was in force stays" file=DIR/agent.toml err="` + text + `"`
}

const usableLine = `level=INFO msg="the configuration can be used again" file=DIR/agent.toml`
