package replay

import (
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/state/decisions"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

// report is the output of wardlet policy replay -o json.
type report struct {
	Decisions, Same, Different, Lost, NotJudged int
	Findings                                    []any
	Damaged                                     []string
}

// product builds the product.
func product(t *testing.T) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "wardlet")
	build := exec.Command("go", "build", "-tags", "grpcnotrace", "-trimpath", "-o", file, "../../cmd/agent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the product: %v\n%s", err, text)
	}
	return file
}

// replays runs wardlet policy replay.
func replays(t *testing.T, wardlet string, flags ...string) report {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), wardlet, append([]string{"policy", "replay", "-o", "json"}, flags...)...)
	out, err := cmd.Output()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return r
}

// same checks that every replayed decision is the same as recorded.
func same(t *testing.T, how string, want int, r report) {
	t.Helper()
	t.Logf("%s: %d decisions made again, %d the same, %d otherwise, %d lost", how, r.Decisions, r.Same, r.Different, r.Lost)
	if r.Decisions != want || r.Same != want || len(r.Findings) > 0 || len(r.Damaged) > 0 {
		t.Errorf("%s: of %d decisions\n%+.2000v", how, want, r)
	}
}

// kinds counts all decisions, and those that depend on something.
type kinds struct{ all, facts, mutations, failures, timed int }

// ofPlugin are the failures that plugins themselves cause.
var ofPlugin = []string{string(abi.Trap), string(abi.FuelExhausted)}

// counted returns the kinds of the decisions in a state directory, and the sets that made them.
func counted(t *testing.T, dir string) (n kinds, sets map[string]bool) {
	t.Helper()
	sets = map[string]bool{}
	damaged, err := decisions.NewArchive(os.DirFS(dir)).Each(func(r *decisions.Record, _ *decisions.Exhibits) error {
		n.all++
		for _, s := range r.Verdict.Sets {
			sets[s] = true
		}
		facts, failed, timed := false, false, false
		for i := range r.Policies {
			facts = facts || r.Policies[i].NodeFacts != ""
			failed = failed || slices.Contains(ofPlugin, r.Verdict.Opinions[i].Failure)
			timed = timed || r.Policies[i].Name == "draw" && r.Verdict.Opinions[i].Message != ""
		}
		for kind, is := range map[*int]bool{&n.facts: facts, &n.failures: failed, &n.timed: timed, &n.mutations: r.Verdict.Mutation != nil} {
			if is {
				*kind++
			}
		}
		return nil
	})
	must(t, errors.Join(append(damaged, err)...))
	return n, sets
}

// decide makes decisions by several sets of policies one after the other, and keeps them in a state
// directory.
func decide(t *testing.T, dir string, decisions int) {
	t.Helper()
	operatorsDir, tenants := t.TempDir(), t.TempDir()
	operators(t, operatorsDir, 0)
	write(t, tenants, "images", example(t, "allowed-images"), "hooks = [\"admit\"]\n[settings]\nallow = [\"*/*\"]")
	write(t, tenants, "draw", w.Drawing(), everyHook+"\nmode = \"warn\"")
	p := newPlane(t, dir, operatorsDir, tenants)
	p.ask(t, 0, decisions/2)
	operators(t, operatorsDir, 1)
	_, err := p.Reload(t.Context(), "")
	must(t, err)
	p.ask(t, decisions/2, decisions)
	p.stop()
	must(t, os.RemoveAll(operatorsDir))
	must(t, os.RemoveAll(tenants))
}

// size is the number of decisions.
var size = flag.Int("decisions", 600, "how many decisions are made; make soak takes 10000")

func TestDecisionsAreMadeAgainToTheLastBit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	decisions := *size
	decide(t, dir, decisions)

	n, sets := counted(t, dir)
	t.Logf("%d decisions by %d sets: %d with node facts, %d that change the pod, %d with a failure, %d that depend on time",
		n.all, len(sets), n.facts, n.mutations, n.failures, n.timed)
	for kind, count := range map[string]int{"node facts": n.facts, "mutation": n.mutations, "failure": n.failures, "time": n.timed} {
		if count < decisions/10 {
			t.Errorf("%s: only %d of %d decisions", kind, count, decisions)
		}
	}
	if n.all != decisions || len(sets) != 3 {
		t.Errorf("%d decisions by %d sets", n.all, len(sets))
	}

	wardlet := product(t)
	for name, flags := range map[string][]string{"another process": nil, "the interpreter": {"--interpreter"}} {
		t.Run("by "+name, func(t *testing.T) {
			same(t, name, decisions, replays(t, wardlet, append([]string{"--state", dir}, flags...)...))
		})
	}
	for name, flags := range map[string][]string{"a bundle": nil, "a redacted bundle": {"--redact"}} {
		t.Run("from "+name, func(t *testing.T) {
			bundle := filepath.Join(t.TempDir(), "bundle.zip")
			args := append([]string{"policy", "export", "--state", dir, "--to", bundle}, flags...)
			out, err := exec.CommandContext(t.Context(), wardlet, args...).CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			same(t, name, decisions, replays(t, wardlet, "--bundle", bundle))
		})
	}
	t.Run("every damage is noticed", func(t *testing.T) { everyDamageIsNoticed(t, dir) })
}

// everyDamageIsNoticed changes one bit of the records at a time, at random places, and checks that
// each change is reported.
func everyDamageIsNoticed(t *testing.T, dir string) {
	t.Helper()
	segments, err := filepath.Glob(filepath.Join(dir, "decisions", "*", "*.log"))
	must(t, err)
	random := rand.New(rand.NewPCG(7, 7))
	for range 40 {
		name := segments[random.IntN(len(segments))]
		text, err := os.ReadFile(name)
		must(t, err)
		relative, err := filepath.Rel(dir, name)
		must(t, err)
		for range 5 {
			at, bit := random.IntN(len(text)), byte(1)<<random.IntN(8)
			text[at] ^= bit
			damaged, err := decisions.NewArchive(fstest.MapFS{relative: &fstest.MapFile{Data: text, Mode: 0o600}}).Each(
				func(*decisions.Record, *decisions.Exhibits) error { return nil })
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			if len(damaged) == 0 {
				t.Errorf("%s: bit %d of byte %d is another, and nobody says so", relative, bit, at)
			}
			text[at] ^= bit
		}
	}
}
