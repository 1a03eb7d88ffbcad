package policy

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/wardlet/wardlet/core/internal/fswatch"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/rollout"
)

// watched starts an Engine that is notified of file changes by the kernel: the period between
// listings is too long for these tests.
func watched(t *testing.T, d policytest.Tree) *Engine {
	t.Helper()
	p := New(testConfig(d, policytest.NewScripts()))
	run(t, p)
	return p
}

// eventually waits until the set has a state, for less time than a listing takes.
func eventually(d policytest.Tree, p *Engine, want string) {
	d.T.Helper()
	deadline := time.Now().Add(rollout.ListPeriod * 3 / 4)
	for stateOf(d, p) != want {
		if time.Now().After(deadline) {
			d.T.Fatalf("set %q, want %q", stateOf(d, p), want)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestEventsTellOf(t *testing.T) {
	t.Parallel()
	const vector = "[[test]]\npod = \"tests/a.yaml\"\nexpect = \"allow\""
	move := func(d policytest.Tree, from, to string) {
		policytest.Must(d.T, os.Rename(filepath.Join(d.Dir, from), filepath.Join(d.Dir, to)))
	}
	const missing = "1 [p] the policy directory DIR is missing; make it, or take it out of agent.toml to have no policies"
	for name, test := range map[string]struct {
		change func(d policytest.Tree)
		want   string
	}{
		"a new policy": {func(d policytest.Tree) { d.Policy("q", "allow") }, "2 [p q] "},
		"one that is moved into place": {func(d policytest.Tree) {
			d.Write(".q", policytest.DocumentOf("q", "allow"))
			d.Write("q.wasm", "allow")
			move(d, ".q", "q.toml")
		}, "2 [p q] "},
		"one that is written to": {func(d policytest.Tree) {
			d.Write("p.toml", policytest.DocumentOf("p", "allow", "priority = 7", vector))
		}, "2 [p] "},
		"one that goes": {
			func(d policytest.Tree) { d.Remove("p.toml") },
			"1 [p] the policy directory DIR has no policy (*.toml); add one, or take it out of agent.toml to have no policies",
		},
		"another module":           {func(d policytest.Tree) { d.Write("p.wasm", "deny") }, "1 [p] DIR/p.toml:4: sha256: p.wasm has the digest " + policytest.SumOf("deny") + ": if that is the module meant, write it here, else put the right module in place"},
		"a pod below":              {func(d policytest.Tree) { d.Write("tests/a.yaml", policytest.ManifestText+"# x\n") }, "2 [p] "},
		"a directory below":        {func(d policytest.Tree) { move(d, "tests", "away") }, "1 [p] DIR/p.toml:7: test.pod: tests/a.yaml cannot be read: no such file or directory"},
		"the directory that goes":  {func(d policytest.Tree) { policytest.Must(d.T, os.RemoveAll(d.Dir)) }, missing},
		"the directory that moves": {func(d policytest.Tree) { policytest.Must(d.T, os.Rename(d.Dir, d.Dir+"-away")) }, missing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := policytest.NewTree(t)
			d.Policy("p", "allow", vector)
			d.Write("tests/a.yaml", policytest.ManifestText)
			p := watched(t, d)
			eventually(d, p, "1 [p] ")
			test.change(d)
			eventually(d, p, test.want)
		})
	}
}

func TestEventsTellOfWhatComesBack(t *testing.T) {
	t.Parallel()
	d := policytest.NewTree(t)
	d.Policy("p", "allow", "[[test]]\npod = \"tests/a.yaml\"\nexpect = \"allow\"")
	policytest.Must(t, os.Rename(d.Dir, d.Dir+"-away"))
	p := watched(t, d)
	eventually(d, p, "0 [] the policy directory DIR is missing; make it, or take it out of agent.toml to have no policies")
	policytest.Must(t, os.Rename(d.Dir+"-away", d.Dir))
	eventually(d, p, "0 [] DIR/p.toml:7: test.pod: tests/a.yaml cannot be read: no such file or directory")
	policytest.Must(t, os.Mkdir(filepath.Join(d.Dir, "away"), 0o700))
	d.Write("away/a.yaml", policytest.ManifestText)
	policytest.Must(t, os.Rename(filepath.Join(d.Dir, "away"), filepath.Join(d.Dir, "tests")))
	eventually(d, p, "1 [p] ")
	d.Write("tests/a.yaml", policytest.ManifestText+"# x\n")
	eventually(d, p, "2 [p] ")
	policytest.Must(t, os.Rename(d.Dir, d.Dir+"-old"))
	d.Policy("q", "allow")
	eventually(d, p, "3 [q] ")
	d.Policy("r", "allow")
	eventually(d, p, "4 [q r] ")
}

func TestAWatchThatEndsOrLosesEventsHasEverythingReadAgain(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*fswatch.Backend){
		"ends":         func(w *fswatch.Backend) { _ = w.Close() },
		"loses events": func(w *fswatch.Backend) { w.Errors <- fsnotify.ErrEventOverflow },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := policytest.NewTree(t)
			d.Policy("p", "allow")
			c := testConfig(d, policytest.NewScripts())
			watchers := make(chan *fswatch.Backend, 10)
			c.openWatch = func() (*fswatch.Backend, error) {
				w, err := fswatch.Inotify()
				if err == nil {
					watchers <- w
				}
				return w, err
			}
			p := New(c)
			run(t, p)
			eventually(d, p, "1 [p] ")
			w := <-watchers
			// The watcher does not report this removal.
			policytest.Must(t, w.Remove(d.Dir))
			d.Policy("q", "allow")
			lose(w)
			eventually(d, p, "2 [p q] ")
			d.Policy("r", "allow")
			eventually(d, p, "3 [p q r] ")
		})
	}
}
