package spectest

import (
	"flag"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// plain is the name of the run of the unchanged modules.
const plain = "plain"

// shownDifferences is how many differences of one script are printed.
const shownDifferences = 5

// TestTheSpecificationHoldsAndTransformsMakeNoDifference runs every command of both suites on both
// engines, without a transform and with each transform.
func TestTheSpecificationHoldsAndTransformsMakeNoDifference(t *testing.T) {
	t.Parallel()
	totals := &totals{}
	t.Cleanup(func() { totals.check(t) })
	for i, s := range suites {
		scripts := suite(t, s.name)
		files, err := Files(scripts)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			t.Run(s.name+"/"+strings.TrimSuffix(file, ".json"), func(t *testing.T) {
				t.Parallel()
				before := map[string]*Result{}
				for _, e := range engines {
					run := func(name string, set func(*Config)) *Result {
						c := config(t, e.config(), s.features)
						set(&c)
						begun := time.Now()
						r := runFile(t, scripts, file, c)
						totals.add(i, e.name, name, r, time.Since(begun))
						assertSatisfied(t, e.name+", "+name, r)
						return r
					}
					before[e.name] = run(plain, func(*Config) {})
					for _, x := range transforms {
						assertEqual(t, e.name+", "+x.name, Compare(before[e.name], run(x.name, x.set)))
					}
				}
				assertEqual(t, "interpreter against compiler", Compare(before["compiler"], before["interpreter"]))
			})
		}
	}
}

func runFile(tb testing.TB, scripts fs.FS, file string, c Config) *Result {
	tb.Helper()
	r, err := RunFile(tb.Context(), scripts, file, c)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func assertSatisfied(tb testing.TB, run string, r *Result) {
	tb.Helper()
	faults := r.Faults()
	for i := range faults[:min(len(faults), shownDifferences)] {
		tb.Errorf("%s: %s: %s", run, &faults[i], faults[i].Fault)
	}
	if len(faults) > shownDifferences {
		tb.Errorf("%s: %d commands are not satisfied", run, len(faults))
	}
}

func assertEqual(tb testing.TB, run string, differences []string) {
	tb.Helper()
	for _, d := range differences[:min(len(differences), shownDifferences)] {
		tb.Errorf("%s: %s", run, d)
	}
	if len(differences) > shownDifferences {
		tb.Errorf("%s: %d differences", run, len(differences))
	}
}

// run is one way to run one suite.
type run struct {
	suite          int
	engine, change string
}

// totals are the totals over all scripts.
type totals struct {
	mu   sync.Mutex
	runs map[run]*total
}

type total struct {
	files int
	took  time.Duration
	all   Result
}

func (s *totals) add(suite int, engine, change string, r *Result, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runs == nil {
		s.runs = map[run]*total{}
	}
	key := run{suite, engine, change}
	if s.runs[key] == nil {
		s.runs[key] = &total{}
	}
	s.runs[key].files++
	s.runs[key].took += took
	s.runs[key].all.add(r)
}

// check logs what was run, which go test -v shows, and compares it with what is expected.
func (s *totals) check(t *testing.T) {
	t.Helper()
	if t.Failed() {
		return
	}
	// If a pattern selects subtests, not all scripts are run, which is not a fault.
	partly := strings.Contains(flag.Lookup("test.run").Value.String()+flag.Lookup("test.skip").Value.String(), "/")
	changes := []string{plain}
	for _, x := range transforms {
		changes = append(changes, x.name)
	}
	for _, e := range engines {
		for _, change := range changes {
			modules, assertions, text := 0, 0, 0
			for i, want := range suites {
				got := s.runs[run{i, e.name, change}]
				if got == nil {
					got = &total{}
				}
				modules, assertions, text = modules+got.all.Modules, assertions+got.all.Assertions, text+got.all.Text
				t.Logf("%s %s %s: %d scripts, %d modules, %d assertions, %d of them run, %.1f s",
					want.name, e.name, change, got.files, got.all.Modules, got.all.Assertions, got.all.Assertions-got.all.Text, got.took.Seconds())
				if !partly {
					want.check(t, got)
				}
			}
			t.Logf("all %s %s: %d modules, %d assertions, %d of them run; the others are of the text format",
				e.name, change, modules, assertions, assertions-text)
			if !partly && (modules != 2_379 || assertions != 70_668) {
				t.Errorf("%s %s: %d modules and %d assertions were run, want 2379 and 70668", e.name, change, modules, assertions)
			}
		}
	}
}

// check compares a run of the suite with its expected numbers.
func (v *version) check(t *testing.T, got *total) {
	t.Helper()
	types, deviations := map[string]int{}, map[string]int{}
	for _, o := range got.all.Outcomes {
		types[o.Type]++
	}
	for _, o := range got.all.Deviations() {
		deviations[o.Deviation]++
	}
	if diff := cmp.Diff(v.commands, types); diff != "" {
		t.Errorf("commands of %s (-want +got):\n%s", v.name, diff)
	}
	if diff := cmp.Diff(v.deviations, deviations); diff != "" {
		t.Errorf("deviations in %s (-want +got):\n%s", v.name, diff)
	}
	if got.files != v.files || got.all.Text != v.text || len(got.all.Halves) != v.halves {
		t.Errorf("%s has %d scripts, %d modules of the text format and %d globals of which half is compared, want %d, %d and %d",
			v.name, got.files, got.all.Text, len(got.all.Halves), v.files, v.text, v.halves)
	}
	if refused := got.all.Refused(); len(refused) > 0 {
		t.Errorf("%d modules of %s are refused by the transform, the first is %s", len(refused), v.name, &refused[0])
	}
}
