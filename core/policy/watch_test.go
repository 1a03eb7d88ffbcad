package policy

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/internal/fswatch"
)

// watched is a plane that is told of changes by the kernel. Listings come too
// late for these tests.
func watched(t *testing.T, d tree) *Plane {
	t.Helper()
	p := New(testConfig(d, newScripts()))
	run(t, p)
	return p
}

// eventually waits for a state of the set, for less than a listing takes.
func (d tree) eventually(p *Plane, want string) {
	d.t.Helper()
	deadline := time.Now().Add(listPeriod * 3 / 4)
	for d.state(p) != want {
		if time.Now().After(deadline) {
			d.t.Fatalf("set %q, want %q", d.state(p), want)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestEventsTellOf(t *testing.T) {
	t.Parallel()
	const vector = "[[test]]\npod = \"tests/a.yaml\"\nexpect = \"allow\""
	move := func(d tree, from, to string) {
		must(d.t, os.Rename(filepath.Join(d.dir, from), filepath.Join(d.dir, to)))
	}
	const missing = "1 [p] the policy directory DIR is missing; make it, or take it out of agent.toml to have no policies"
	for name, test := range map[string]struct {
		change func(d tree)
		want   string
	}{
		"a new policy": {func(d tree) { d.policy("q", "allow") }, "2 [p q] "},
		"one that is moved into place": {func(d tree) {
			d.write(".q", documentOf("q", "allow"))
			d.write("q.wasm", "allow")
			move(d, ".q", "q.toml")
		}, "2 [p q] "},
		"one that is written to": {func(d tree) { d.write("p.toml", documentOf("p", "allow", "priority = 7", vector)) }, "2 [p] "},
		"one that goes": {
			func(d tree) { d.remove("p.toml") },
			"1 [p] the policy directory DIR has no policy (*.toml); add one, or take it out of agent.toml to have no policies",
		},
		"another module":           {func(d tree) { d.write("p.wasm", "deny") }, "1 [p] DIR/p.toml:4: sha256: p.wasm has the digest " + sumOf("deny") + ": if that is the module meant, write it here, else put the right module in place"},
		"a pod below":              {func(d tree) { d.write("tests/a.yaml", manifestText+"# x\n") }, "2 [p] "},
		"a directory below":        {func(d tree) { move(d, "tests", "away") }, "1 [p] DIR/p.toml:7: test.pod: tests/a.yaml cannot be read: no such file or directory"},
		"the directory that goes":  {func(d tree) { must(d.t, os.RemoveAll(d.dir)) }, missing},
		"the directory that moves": {func(d tree) { must(d.t, os.Rename(d.dir, d.dir+"-away")) }, missing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newTree(t)
			d.policy("p", "allow", vector)
			d.write("tests/a.yaml", manifestText)
			p := watched(t, d)
			d.eventually(p, "1 [p] ")
			test.change(d)
			d.eventually(p, test.want)
		})
	}
}

func TestEventsTellOfWhatComesBack(t *testing.T) {
	t.Parallel()
	d := newTree(t)
	d.policy("p", "allow", "[[test]]\npod = \"tests/a.yaml\"\nexpect = \"allow\"")
	must(t, os.Rename(d.dir, d.dir+"-away"))
	p := watched(t, d)
	d.eventually(p, "0 [] the policy directory DIR is missing; make it, or take it out of agent.toml to have no policies")
	must(t, os.Rename(d.dir+"-away", d.dir))
	d.eventually(p, "0 [] DIR/p.toml:7: test.pod: tests/a.yaml cannot be read: no such file or directory")
	must(t, os.Mkdir(filepath.Join(d.dir, "away"), 0o700))
	d.write("away/a.yaml", manifestText)
	must(t, os.Rename(filepath.Join(d.dir, "away"), filepath.Join(d.dir, "tests")))
	d.eventually(p, "1 [p] ")
	d.write("tests/a.yaml", manifestText+"# x\n")
	d.eventually(p, "2 [p] ")
	must(t, os.Rename(d.dir, d.dir+"-old"))
	d.policy("q", "allow")
	d.eventually(p, "3 [q] ")
	d.policy("r", "allow")
	d.eventually(p, "4 [q r] ")
}

func TestAnEventThatConcernsNoPolicyDisturbsNothing(t *testing.T) {
	t.Parallel()
	w := newWatch("/policies", nil)
	names := map[string]fswatch.Stamp{".": {}, "p.toml": {}, "p.wasm": {}, "tests/a.yaml": {}}
	for name, want := range map[string]bool{
		"/policies":               true,
		"/policies/p.toml":        true,
		"/policies/new.toml":      true,
		"/policies/p.wasm":        true,
		"/policies/tests/a.yaml":  true,
		"/policies/tests":         true,
		"/policies/.p.toml.swp":   false,
		"/policies/README.md":     false,
		"/policies/tests/b.yaml":  false,
		"/policies/test":          false,
		"/elsewhere":              false,
		"/policies-old/p.toml":    false,
		"/policies/.hidden.toml":  false,
		"/policies/other.wasm":    false,
		"/policies/#p.toml#":      false,
		"/policies/deep/new.yaml": false,
	} {
		if got := w.concerns(fsnotify.Event{Name: name}, names); got != want {
			t.Errorf("%s concerns = %t, want %t", name, got, want)
		}
	}
}

func TestFilesThatWereThereAreWatchedFromTheFirstReading(t *testing.T) {
	t.Parallel()
	d := newTree(t)
	d.policy("p", "allow", "[[test]]\npod = \"tests/a.yaml\"\nexpect = \"allow\"")
	d.write("tests/a.yaml", manifestText)
	r := d.reloader()
	r.cfg.Now = func() time.Time { return time.Now().Add(time.Minute) }
	r.watch.Open = func() (*fswatch.Backend, error) { return nil, errors.New("no watches left") }
	r.look(t.Context())
	r.watch.Open = fswatch.Inotify
	r.acted = true
	r.look(t.Context())
	if !r.watch.Started() {
		t.Error("a listing that finds nothing new does not try to watch again")
	}
	r.watch.Close()

	r = d.reloader()
	r.cfg.Now = func() time.Time { return time.Now().Add(time.Minute) }
	r.look(t.Context())
	defer r.watch.Close()
	got := r.watch.Dirs()
	slices.Sort(got)
	if diff := cmp.Diff([]string{d.dir, d.dir + "/tests"}, got); diff != "" {
		t.Errorf("watched (-want +got):\n%s", diff)
	}
}

func TestWithoutAWatchItIsTriedAgain(t *testing.T) {
	t.Parallel()
	d, l := newTree(t), &logs{}
	w := newWatch(d.dir, l.logger())
	open := w.Open
	w.Open = func() (*fswatch.Backend, error) { return nil, errors.New("no watches left") }
	w.aim(nil)
	w.aim(nil)
	if w.Events() != nil || w.Errors() != nil {
		t.Error("there are events without a watch")
	}
	w.Open = open
	w.aim(nil)
	w.aim(nil)
	defer w.Close()
	if diff := cmp.Diff([]string{d.dir}, w.Dirs()); diff != "" {
		t.Errorf("watched (-want +got):\n%s", diff)
	}
	if l.count("cannot be watched") != 1 || l.count("watched again") != 1 {
		t.Errorf("log: %q", l.lines())
	}
}

func TestAWatchThatEndsOrLosesEventsHasEverythingReadAgain(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*fswatch.Backend){
		"ends":         func(w *fswatch.Backend) { _ = w.Close() },
		"loses events": func(w *fswatch.Backend) { w.Errors <- fsnotify.ErrEventOverflow },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newTree(t)
			d.policy("p", "allow")
			p := New(testConfig(d, newScripts()))
			watchers := make(chan *fswatch.Backend, 10)
			p.owners[0].reloader.watch.Open = func() (*fswatch.Backend, error) {
				w, err := fswatch.Inotify()
				if err == nil {
					watchers <- w
				}
				return w, err
			}
			run(t, p)
			d.eventually(p, "1 [p] ")
			w := <-watchers
			// Nothing is told of this one.
			must(t, w.Remove(d.dir))
			d.policy("q", "allow")
			lose(w)
			d.eventually(p, "2 [p q] ")
			d.policy("r", "allow")
			d.eventually(p, "3 [p q r] ")
		})
	}
}
