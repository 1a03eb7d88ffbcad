package rotate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/wardlet/wardlet/core/logs"
	"github.com/wardlet/wardlet/core/status"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRotator_asAKubelet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // the bubble's clock starts with the year 2000
		g := newRig(t, 4, 3)
		for _, text := range []string{"aaaa", "bbb", "b", "", "cccc", "dddd", "e"} {
			g.write(g.log, text)
			g.look(t.Context())
			time.Sleep(time.Second)
		}
		g.wantFiles(map[string]string{"0.log": "e", "0.log.20000101-000004.gz": "cccc", "0.log.20000101-000005": "dddd"})
		g.wantEvents()
		if info, err := os.Stat(g.log + ".20000101-000004.gz"); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("the compressed file has mode %v, %v", info.Mode(), err)
		}
	})
}

// A log that grows fast stays within its size and number of files, and its follower misses no line.
func TestRotator_fastLogThatIsFollowed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const size, files, lines, perLook = 64 << 10, 5, 20_000, 100
		g := newRig(t, size, files)
		g.write(g.log, "")
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { g.Run(ctx) })
		var followed bytes.Buffer
		var mu sync.Mutex
		runs := true
		all.Go(func() {
			err := logs.Copy(ctx, g.log, logs.Options{Follow: true, Tail: -1, Limit: -1}, logs.Output{Stdout: &followed}, func() bool {
				mu.Lock()
				defer mu.Unlock()
				return runs
			})
			if err != nil {
				t.Error(err)
			}
		})
		var want strings.Builder
		var largest int64
		time.Sleep(5 * time.Millisecond) // keeps the writes apart from the looks
		for i := range lines {
			fmt.Fprintf(&want, "line %d, incompressible %x\n", i, i*i*7919)
			g.write(g.log, fmt.Sprintf("2000-01-01T00:00:00.%09dZ stdout F line %d, incompressible %x\n", i, i, i*i*7919))
			if i%perLook == 0 {
				time.Sleep(20 * time.Millisecond) // 400 kB/s: the log reaches its size in 160 ms
				list, sum := g.files()
				if i > lines/2 { // the lines of the first second are in one file
					largest = max(largest, sum)
				}
				if len(list) > files {
					t.Errorf("%d files", len(list))
				}
			}
		}
		if largest < 2*size || largest > files*size {
			t.Errorf("at most %d bytes at once, want no more than %d", largest, files*size)
		}
		mu.Lock()
		runs = false
		mu.Unlock()
		synctest.Wait()
		time.Sleep(time.Minute)
		cancel()
		all.Wait()
		if followed.String() != want.String() {
			t.Errorf("followed %d bytes, want %d", followed.Len(), want.Len())
		}
		g.wantEvents()
	})
}

func TestRotator_faults(t *testing.T) {
	t.Parallel()
	mkdir := func(g *rig, path string) {
		g.t.Helper()
		if err := os.MkdirAll(filepath.Join(path, "in the way"), 0o700); err != nil {
			g.t.Fatal(err)
		}
	}
	type files map[string]string
	for name, test := range map[string]struct {
		prepare func(g *rig)
		// want are the files and events are the events after two looks within a second. calls is
		// the number of calls of the runtime.
		want   files
		events []string
		calls  int
		// mend, if not nil, removes the fault. over are the files after another look.
		mend func(g *rig)
		over files
	}{
		"the runtime opens nothing": {
			prepare: func(g *rig) { g.write(g.log, "aaaa"); g.fail = errors.New("no space left on device") },
			want:    files{"0.log": "aaaa"}, events: []string{"opening the log again: no space left on device"}, calls: 1,
			mend: func(g *rig) { g.fail = nil }, over: files{"0.log": "", "0.log.20000101-000010": "aaaa"},
		},
		"the runtime opens the log and answers with an error": {
			prepare: func(g *rig) { g.write(g.log, "aaaa"); g.fail, g.opens = errors.New("too late"), true },
			want:    files{"0.log": "", "0.log.20000101-000000": "aaaa"}, events: []string{"opening the log again: too late"}, calls: 1,
		},
		"a copy cannot be written": {
			prepare: func(g *rig) {
				g.write(g.log, "bbbb")
				g.write(g.log+".19991231-000000", "aaaa")
				mkdir(g, g.log+".19991231-000000.tmp")
			},
			want:   files{"0.log": "", "0.log.19991231-000000": "aaaa", "0.log.20000101-000000": "bbbb"},
			events: []string{"remove "}, calls: 1,
			mend: func(g *rig) {
				if err := os.RemoveAll(g.log + ".19991231-000000.tmp"); err != nil {
					g.t.Fatal(err)
				}
				g.write(g.log, "cccc")
			},
			over: files{"0.log": "", "0.log.20000101-000000.gz": "bbbb", "0.log.20000101-000010": "cccc"},
		},
		"what a killed agent left": {
			prepare: func(g *rig) {
				g.write(g.log, "dddd")
				g.write(g.log+".19991231-000000", "bbbb")
				g.write(g.log+".19991231-000000.tmp", "b")
				g.write(g.log+".1", "of others")
			},
			want:  files{"0.log": "", "0.log.1": "of others", "0.log.19991231-000000.gz": "bbbb", "0.log.20000101-000000": "dddd"},
			calls: 1,
		},
		"a link in the log's place": {
			prepare: func(g *rig) {
				g.write(g.log+"x", "secret")
				if err := os.Symlink(g.log+"x", g.log); err != nil {
					g.t.Fatal(err)
				}
			},
			want: files{"0.log": "secret", "0.logx": "secret"}, events: []string{""},
		},
		"a clock that was set back": {
			prepare: func(g *rig) { g.write(g.log, "bbbb"); g.write(g.log+".20300101-000000", "aaaa") },
			want:    files{"0.log": "", "0.log.20300101-000000.gz": "aaaa", "0.log.20300101-000000.001": "bbbb"},
			calls:   1,
		},
		"a log that is missing": {prepare: func(*rig) {}, want: files{"0.log": ""}, calls: 1},
		"a container that does not run": {
			prepare: func(g *rig) {
				g.write(g.log, "aaaa")
				g.cfg.Pods()[0].Containers[0].State = status.StateExited
			},
			want: files{"0.log": "aaaa"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := newRig(t, 4, 3)
				test.prepare(g)
				for range 2 {
					g.look(t.Context())
				}
				g.wantFiles(test.want)
				g.wantEvents(test.events...)
				if g.calls != test.calls {
					t.Errorf("%d calls, want %d", g.calls, test.calls)
				}
				if test.mend != nil {
					test.mend(g)
					time.Sleep(retryInterval)
					g.look(t.Context())
					g.wantFiles(test.over)
					g.wantEvents()
				}
			})
		})
	}
}

func TestRotator_negativeSizeRotatesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, -1, 3)
		g.write(g.log, "aaaa")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		g.Run(ctx)
		g.wantFiles(map[string]string{"0.log": "aaaa"})
	})
}

// A log that cannot be rotated is not tried again at every look, and is
// reported once.
func TestRotator_runtimeThatStaysAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, 4, 3)
		g.write(g.log, "aaaa")
		g.fail = errors.New("the runtime does not answer")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		g.Run(ctx)
		if g.calls != 6 {
			t.Errorf("%d calls in a minute, want 6", g.calls)
		}
		g.wantFiles(map[string]string{"0.log": "aaaa"})
		g.wantEvents("opening the log again: the runtime does not answer")
	})
}

// An agent that stops during a rotation leaves a log that the runtime has opened, and no partial
// copy.
func TestRotator_endsCleanly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, 4, 3)
		g.write(g.log, "bbbb")
		g.write(g.log+".19991231-000000", "aaaa")
		ctx, cancel := context.WithCancel(t.Context())
		reopen := g.cfg.Reopen
		g.cfg.Reopen = func(ctx context.Context, id string) error {
			cancel()
			return errors.Join(ctx.Err(), reopen(ctx, id))
		}
		g.Run(ctx)
		g.wantFiles(map[string]string{"0.log": "", "0.log.19991231-000000": "aaaa", "0.log.20000101-000001": "bbbb"})
		g.wantEvents()
		if err := compress(ctx, g.log+".19991231-000000"); !errors.Is(err, context.Canceled) {
			t.Errorf("compressed after the end: %v", err)
		}
		g.wantFiles(map[string]string{"0.log": "", "0.log.19991231-000000": "aaaa", "0.log.20000101-000001": "bbbb"})
	})
}
