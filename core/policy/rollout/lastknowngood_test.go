package rollout

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/sched"
	"github.com/wardlet/wardlet/core/state"
)

// keptIn uses a lastKnownGood for a set of a large policy, which is off, and a small one.
// next changes the small policy, stores the set, and returns the directory of the stored set.
func keptIn(t *testing.T, in state.PolicySets, loads *loadBudget) (next func(script string) string) {
	t.Helper()
	d, s := policytest.NewTree(t), policytest.NewScripts()
	large := "allow # " + strings.Repeat("x", 100_000)
	d.Write("large.wasm", large)
	d.Write("large.toml", policytest.DocumentOf("large", large, "mode = \"off\"\n[[test]]\npod = \"tests/a.yaml\"\nexpect = \"deny\""))
	d.Write("tests/a.yaml", policytest.ManifestText)
	c := optionsFor(d, s)
	c.Kept, c.loads = in, loads
	k := &lastKnownGood{cfg: &c}
	l := Loader{Options: &c}
	return func(script string) string {
		d.Policy("small", script)
		got := bundle.Read(c.Options)
		set, err := l.load(t.Context(), got, nil)
		policytest.Must(t, err)
		t.Cleanup(set.Release)
		k.good(set, got)
		content, err := in.Content("")
		policytest.Must(t, err)
		if again := k.read(filepath.Join(content, set.Eval.Digest)); again.Digest() != set.Eval.Digest {
			t.Fatalf("%q: what is kept is another set: %v", script, again.Err())
		}
		return filepath.Join(content, set.Eval.Digest)
	}
}

func sameFile(t *testing.T, one, other string) bool {
	t.Helper()
	a, err := os.Lstat(one)
	policytest.Must(t, err)
	b, err := os.Lstat(other)
	policytest.Must(t, err)
	return os.SameFile(a, b)
}

func TestAFileThatASetHasLikeTheOneBeforeIsKeptOnce(t *testing.T) {
	t.Parallel()
	kept := policySets(t)
	next := keptIn(t, kept, nil)
	one, two := next("allow"), next("deny")
	for name, want := range map[string]bool{
		"large.wasm": true, "large.toml": true, "tests/a.yaml": true, "small.wasm": false, "small.toml": false,
	} {
		if got := sameFile(t, filepath.Join(one, name), filepath.Join(two, name)); got != want {
			t.Errorf("%s is the same file: %t", name, got)
		}
	}
	three := next("hold")
	if _, err := os.Lstat(one); err == nil || !sameFile(t, filepath.Join(two, "large.wasm"), filepath.Join(three, "large.wasm")) {
		t.Errorf("the first set: %v", err)
	}
}

func TestAKeptFileThatIsDamagedIsWrittenAnewForTheNextSet(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(path string) error{
		"another byte": func(path string) error {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteAt([]byte("y"), 50_000)
			return err
		},
		"too short": func(path string) error { return os.Truncate(path, 5) },
		"not there": os.Remove,
		"a link": func(path string) error {
			if err := os.Rename(path, path+".moved"); err != nil {
				return err
			}
			return os.Symlink(path+".moved", path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept := policySets(t)
			next := keptIn(t, kept, nil)
			before := filepath.Join(next("allow"), "large.wasm")
			policytest.Must(t, damage(before))
			after := filepath.Join(next("deny"), "large.wasm")
			if info, err := os.Lstat(after); err != nil || !info.Mode().IsRegular() || info.Size() < 100_000 {
				t.Errorf("it is kept as %+v, %v", info, err)
			}
		})
	}
}

func TestWhatIsWrittenToKeepASetIsPaidByTheByte(t *testing.T) {
	t.Parallel()
	kept := policySets(t)
	const rate = 1 << 40
	of := sched.NewBudgets(map[string]int64{"shop": rate}, policytest.Instant).Loading
	next := keptIn(t, kept, &loadBudget{from: of, tenant: "shop", now: func() time.Time { return policytest.Instant }})
	took := func(script string) int64 {
		before := of.LeftOf("shop")
		next(script)
		return before - of.LeftOf("shop")
	}
	if first := took("allow"); first < 100_000*sched.RecordByteFuel {
		t.Errorf("the first set: %d", first)
	}
	if second := took("deny"); second > 50_000*sched.RecordByteFuel || second < 100*sched.RecordByteFuel {
		t.Errorf("the second, with the same large module: %d", second)
	}
}

func TestWhatIsRememberedOfARefusedSetIsPaidByTheByte(t *testing.T) {
	t.Parallel()
	in := policySets(t)
	const rate = 1 << 40
	of := sched.NewBudgets(map[string]int64{"shop": rate}, policytest.Instant).Loading
	c := optionsFor(policytest.NewTree(t), policytest.NewScripts())
	c.Tenant = "shop"
	c.Kept, c.loads = in, &loadBudget{from: of, tenant: "shop", now: func() time.Time { return policytest.Instant }}
	k := &lastKnownGood{cfg: &c}
	k.refuse("content", errors.New(strings.Repeat("x", 10_000)), policytest.Instant)
	if took := sched.MostOf(rate) - of.LeftOf("shop"); took < 10_000*sched.RecordByteFuel {
		t.Errorf("10 000 bytes took %d", took)
	}
}

// policySets returns the policy sets of a new state directory.
func policySets(t *testing.T) state.PolicySets {
	t.Helper()
	dir, err := state.Open(filepath.Join(t.TempDir(), "state"), slog.New(slog.DiscardHandler))
	policytest.Must(t, err)
	t.Cleanup(func() { dir.Close() })
	return dir.PolicySets()
}
