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

// firstSource is the source that every configuration needs.
const firstSource = "[[source]]\nname = \"static\"\nkind = \"file\"\npath = \"/manifests\"\n"

// followed is a configuration file and the Reloader that follows it. In log lines and events, the
// file's directory is DIR.
type followed struct {
	t         *testing.T
	dir, path string
	r         *Reloader
	level     *slog.LevelVar
	// live records in took the values that it receives.
	live  *Live
	took  []string
	asked chan os.Signal
	ring  *status.EventBuffer
	// events and errors are the channels of the watcher, if the test sends the events.
	events chan fsnotify.Event
	errors chan error
	// lines receives each line of the log, without its time.
	lines chan string
	// stop stops the Reloader and waits for it.
	stop func()
}

// newFollowed makes a Reloader of a file with firstSource. The test calls tell for a change, and
// run to start the Reloader.
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

// Write records a line of the log.
func (f *followed) Write(line []byte) (int, error) {
	f.lines <- strings.ReplaceAll(strings.TrimSuffix(string(line), "\n"), f.dir, "DIR")
	return len(line), nil
}

// run runs the Reloader until the test ends or stop is called.
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

// replace replaces the configuration file by another file.
func (f *followed) replace(text string) {
	f.t.Helper()
	temp := filepath.Join(f.dir, ".new")
	f.must(os.WriteFile(temp, []byte(text), 0o600))
	f.must(os.Rename(temp, f.path))
}

// tell sends the event of a change of the configuration file.
func (f *followed) tell() { f.events <- fsnotify.Event{Name: f.path, Op: fsnotify.Create} }

// settled waits until a change has been read. It is for tests in a synctest bubble.
func (f *followed) settled() {
	f.t.Helper()
	time.Sleep(2*settleTime + time.Millisecond)
	synctest.Wait()
}

// said returns the log lines since its last call.
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

// hears waits for a line of the log, but not long enough for the periodic look to cause the line.
// It is for tests in real time.
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

// told returns the events, without their times. The test fails if an event was repeated.
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

// levelLine returns the log line for a changed log level.
func levelLine(was, is string) string {
	return `level=INFO msg="the configuration changed" key=log_level was=` + was + ` is=` + is
}

// faultLine returns the log line for a configuration that is refused.
func faultLine(text string) string {
	return `level=ERROR msg="the configuration is refused; what was in force stays" file=DIR/agent.toml err="` + text + `"`
}

const usableLine = `level=INFO msg="the configuration can be used again" file=DIR/agent.toml`
