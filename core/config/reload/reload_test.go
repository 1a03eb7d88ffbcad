package reload

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/internal/fswatch"
)

const debugging = "log_level = \"debug\"\n" + firstSource

func TestTheFileIsReadAtOnceWhenSomebodySaysSo(t *testing.T) {
	t.Parallel()
	const (
		nothing = `level=INFO msg="the configuration was read again" file=DIR/agent.toml applied=0 need_restart=0`
		level   = `level=INFO msg="the configuration was read again" file=DIR/agent.toml applied=1 need_restart=0`
		restart = `level=INFO msg="the configuration was read again" file=DIR/agent.toml applied=0 need_restart=1`
	)
	synctest.Test(t, func(t *testing.T) {
		f := newFollowed(t)
		f.run()
		f.settled()
		for _, step := range []struct {
			text string
			want []string
		}{
			{firstSource, []string{nothing}},
			{debugging, []string{levelLine("info", "debug"), level}},
			{debugging + "[runtime]\nresolv_conf = \"/one\"\n", []string{restartLine("runtime.resolv_conf", "/etc/resolv.conf", "/one", podsHaveIt), restart}},
			{debugging + "[runtime]\nresolv_conf = \"/one\"\n", []string{restart}},
			{"log_level = 1", []string{faultLine(`the configuration cannot be used:\nDIR/agent.toml:1: log_level: want a string, found the number 1`)}},
		} {
			f.replace(step.text)
			f.asked <- syscall.SIGHUP
			synctest.Wait() // no time passes
			f.says(step.want...)
		}
		f.settled()
		f.says()
	})
}

func TestReloader_Ask(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFollowed(t)
		f.run()
		for _, step := range []struct {
			text, want string
			outcome    Outcome
		}{
			{text: firstSource},
			{
				text: "node_name = \"b\"\n" + debugging,
				outcome: Outcome{
					Applied: []config.Change{{Key: "log_level", From: "info", To: "debug"}},
					Restart: []config.Change{{Key: "node_name", Restart: true, Why: "it is part of the UIDs and names of pods", To: "b"}},
				},
			},
			{
				text: "node_name = \"b\"\n" + debugging,
				outcome: Outcome{
					Restart: []config.Change{{Key: "node_name", Restart: true, Why: "it is part of the UIDs and names of pods", To: "b"}},
				},
			},
			{text: "sync = 1", want: "DIR/agent.toml:1: sync: want a table, found the number 1"},
			{text: "sync = 1", want: "DIR/agent.toml:1: sync: want a table, found the number 1"},
		} {
			f.replace(step.text)
			got, err := f.r.Ask(t.Context())
			if diff := cmp.Diff(step.outcome, got); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
			if (err != nil) != (step.want != "") || err != nil && !strings.HasSuffix(strings.ReplaceAll(err.Error(), f.dir, "DIR"), step.want) {
				t.Errorf("error %v, want %q", err, step.want)
			}
		}
		f.stop()
		if _, err := f.r.Ask(t.Context()); !errors.Is(err, errEnded) {
			t.Errorf("error %v, want %v", err, errEnded)
		}
	})
}

func TestReloader_askWaitsForItsContextOnly(t *testing.T) {
	t.Parallel()
	f := newFollowed(t) // the Reloader does not run
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.r.Ask(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

func TestWhatCannotBeReadAsAFileIsRefused(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(path string) error{
		"a directory":       func(path string) error { return os.Mkdir(path, 0o700) },
		"a pipe":            func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a link to nowhere": func(path string) error { return os.Symlink("nowhere", path) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFollowed(t)
				f.must(os.Remove(f.path))
				f.must(put(f.path))
				f.run()
				f.settled()
				said := f.said()
				if len(said) != 1 || !strings.Contains(said[0], "cannot read the configuration: ") {
					t.Errorf("log %q", said)
				}
				f.must(os.Remove(f.path))
				f.replace(debugging)
				f.tell()
				f.settled()
				f.says(usableLine, levelLine("info", "debug"))
			})
		})
	}
}

func TestAFileThatChangesIsReadOnceItStandsStill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFollowed(t)
		f.run()
		f.settled()
		for i := range 100 {
			f.replace(fmt.Sprintf("# %d\nlog_level = \"debug\"\n%s", i, firstSource))
			f.tell()
			time.Sleep(settleTime / 2)
		}
		f.says()
		f.settled()
		f.says(levelLine("info", "debug"))

		// A file that changes again and again is reported once. It is read when it has settled.
		for i := range 300 {
			f.replace(fmt.Sprintf("# %d\n%s", i, firstSource))
			f.tell()
			time.Sleep(settleTime / 2)
		}
		f.says(faultLine("DIR/agent.toml keeps changing; it is read once it has stood still for 100ms"))
		f.settled()
		f.says(usableLine, levelLine("debug", "info"))

		// The quiet minute does not count towards the time for which a file keeps changing.
		time.Sleep(time.Minute)
		f.replace(debugging)
		f.tell()
		f.settled()
		f.says(levelLine("info", "debug"))
	})
}

func TestAFileThatChangesWhileItIsReadIsReadAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFollowed(t)
		readings := 0
		f.r.load = func(path string) (*config.Config, error) {
			cfg, err := config.Load(path)
			if readings++; readings == 1 {
				f.replace(debugging)
				return nil, errors.New("half of a file")
			}
			return cfg, err
		}
		f.run()
		f.settled()
		f.settled()
		f.says(levelLine("info", "debug"))
		if readings != 2 {
			t.Errorf("%d readings, want 2", readings)
		}
	})
}

// The changes before the request do not count towards the time for which a file keeps changing.
func TestWhatWasReadBecauseSomebodySaidSoIsNotReadAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFollowed(t)
		readings := 0
		f.r.load = func(path string) (*config.Config, error) { readings++; return config.Load(path) }
		f.run()
		f.settled()
		f.replace(debugging)
		f.tell()
		time.Sleep(settleTime + settleTime/2) // the change was seen, but the file is not read yet
		if readings != 1 {
			t.Fatalf("%d readings, want 1", readings)
		}
		f.asked <- syscall.SIGHUP
		f.settled()
		time.Sleep(10 * lookPeriod)
		synctest.Wait()
		if readings != 2 {
			t.Errorf("%d readings, want 2", readings)
		}
		f.said()
		f.replace(firstSource)
		f.tell()
		f.settled()
		f.says(levelLine("debug", "info"))

		// The same holds for a change that the Reloader has not seen before the request.
		f.replace(debugging)
		if _, err := f.r.Ask(t.Context()); err != nil || readings != 4 {
			t.Errorf("%d readings, want 4; %v", readings, err)
		}
		f.tell()
		f.settled()
		if readings != 4 {
			t.Errorf("%d readings, want 4", readings)
		}
	})
}

// A file that is read on request takes effect as it was read. It is read again if it changed during
// the reading.
func TestAFileThatChangesWhileSomebodyHasItReadIsReadAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFollowed(t)
		readings := 0
		f.r.load = func(path string) (*config.Config, error) {
			cfg, err := config.Load(path)
			if readings++; readings == 2 {
				f.replace(debugging)
			}
			return cfg, err
		}
		f.run()
		f.settled()
		f.replace("# comment\n" + firstSource)
		if got, err := f.r.Ask(t.Context()); err != nil || len(got.Applied) > 0 {
			t.Errorf("outcome %+v, %v", got, err)
		}
		f.said()
		time.Sleep(lookPeriod + settleTime)
		f.says(levelLine("info", "debug"))
	})
}

func TestAFileThatCannotBeReadIsTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFollowed(t)
		var fault atomic.Bool
		f.r.load = func(path string) (*config.Config, error) {
			if fault.Load() {
				return nil, fmt.Errorf("cannot read the configuration: %w", &fs.PathError{Op: "open", Path: path, Err: syscall.EMFILE})
			}
			return config.Load(path)
		}
		f.run()
		f.settled()
		fault.Store(true)
		f.replace(debugging)
		f.tell()
		f.settled()
		time.Sleep(10 * lookPeriod)
		f.says(faultLine("cannot read the configuration: open DIR/agent.toml: too many open files"))
		fault.Store(false)
		time.Sleep(lookPeriod + settleTime)
		f.says(usableLine, levelLine("info", "debug"))
	})
}

func TestAFileThatDidNotChangeIsNotReadAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFollowed(t)
		readings := 0
		f.r.load = func(path string) (*config.Config, error) { readings++; return config.Load(path) }
		f.run()
		f.settled()
		for range 10 {
			f.tell()
			time.Sleep(10 * lookPeriod)
		}
		synctest.Wait()
		if readings != 1 {
			t.Errorf("%d readings, want 1", readings)
		}
	})
}

func TestOtherFilesDoNotPutAChangeOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFollowed(t)
		f.run()
		f.settled()
		f.replace(debugging)
		f.tell()
		for range 10 {
			f.events <- fsnotify.Event{Name: filepath.Join(f.dir, "other"), Op: fsnotify.Create}
			time.Sleep(settleTime / 4)
		}
		f.says(levelLine("info", "debug"))
	})
}

// Without a watch, only the periodic look finds a change.
func TestChangesAreFoundWithoutAWatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFollowed(t)
		open := f.r.watch.Open
		var none atomic.Bool
		none.Store(true)
		f.r.watch.Open = func() (*fswatch.Backend, error) {
			if none.Load() {
				return nil, errors.New("no watches left")
			}
			return open()
		}
		f.run()
		f.settled()
		f.says(`level=WARN msg="the configuration cannot be watched; changes are found by looking at it" directory=DIR period=10s err="no watches left"`)
		f.replace(debugging)
		time.Sleep(lookPeriod - 3*settleTime)
		f.says()
		time.Sleep(5 * settleTime)
		f.says(levelLine("info", "debug"))
		none.Store(false)
		time.Sleep(lookPeriod)
		f.says(`level=INFO msg="the configuration is watched again" directory=DIR`)
		f.replace(firstSource)
		f.tell()
		f.settled()
		f.says(levelLine("debug", "info"))
	})
}

func TestAWatchThatEndsOrLosesEventsHasTheFileLookedAt(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*followed){
		"events end":   func(f *followed) { close(f.events) },
		"errors end":   func(f *followed) { close(f.errors) },
		"loses events": func(f *followed) { f.errors <- fsnotify.ErrEventOverflow },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFollowed(t)
				opened := 0
				f.r.watch.Open = func() (*fswatch.Backend, error) {
					w := &fswatch.Backend{
						Add: func(string) error { return nil }, List: func() []string { return nil }, Close: func() error { return nil },
					}
					if opened++; opened == 1 {
						w.Events, w.Errors = f.events, f.errors
					}
					return w, nil
				}
				f.run()
				f.settled()
				f.replace(debugging)
				lose(f)
				f.settled()
				f.says(levelLine("info", "debug"))
			})
		})
	}
}

// A change that came before the agent ran must not be lost.
func TestAChangeSinceTheStartIsFound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFollowed(t)
		f.replace(debugging)
		f.run()
		f.settled()
		f.says(levelLine("info", "debug"))
	})
}
