package history

import (
	"flag"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
)

var (
	seeds = flag.Int("seeds", 2000, "how many histories to compare")
	seed  = flag.Uint64("seed", 0, "compare only the history of this seed; 0 is seeds from 1 on")
)

func TestWardletSaysWhatAKubeletSays(t *testing.T) {
	first, n := uint64(1), *seeds
	if *seed != 0 {
		first, n = *seed, 1
	}
	total, edited, failures := run(first, n, 3)
	for _, f := range failures {
		short := minimise(generate(f.seed), func(h *history) bool { return compare(h, newTally()) != nil })
		t.Errorf("seed %d (repeat with -seed %d): %v\nThe shortest history that fails:\n%s%v",
			f.seed, f.seed, f.err, short, compare(short, newTally()))
	}
	t.Logf("%d histories: %v", n, total)
	if *seed != 0 || len(failures) > 0 {
		return
	}
	for _, id := range predicates {
		if total.used[id] == 0 {
			t.Errorf("the difference %s was not met; is it none?", id)
		}
	}
	if total.excused*4 > total.exact {
		t.Error("too much is excused for the rest to be a proof")
	}
	for _, path := range missing(edited) {
		t.Errorf("no history changes %s", path)
	}
}

// missing returns the fields of a pod that no history has edited, among the fields that a kubelet
// compares or is known not to compare.
func missing(edited map[string]int) (paths []string) {
	var want []string
	for _, part := range []struct {
		path string
		of   reflect.Type
	}{{".Spec.", reflect.TypeFor[v1.PodSpec]()}, {".Status.", reflect.TypeFor[v1.PodStatus]()}} {
		for f := range part.of.Fields() {
			want = append(want, part.path+f.Name)
		}
	}
	for _, field := range append(uncompared, "Labels", "Annotations", "DeletionTimestamp", "DeletionGracePeriodSeconds") {
		want = append(want, "."+field)
	}
	for _, path := range want {
		found := false
		for have := range edited {
			found = found || have == path || strings.HasPrefix(have, path+".") || strings.HasPrefix(have, path+"[")
		}
		if !found {
			paths = append(paths, path)
		}
	}
	return paths
}

var line = regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\|")

func TestEveryDifferenceHasItsLineAndItsPredicate(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/differences.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Sources and mux\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var lines []string
	for _, m := range line.FindAllStringSubmatch(section, -1) {
		lines = append(lines, m[1])
	}
	slices.Sort(lines)
	if want := slices.Sorted(slices.Values(predicates)); !slices.Equal(lines, want) {
		t.Errorf("docs/differences.md lists under \"Sources and mux\"\n%q\nand the predicates are\n%q", lines, want)
	}
}

func TestAHistoryIsTheSameEveryTime(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		if a, b := generate(seed), generate(seed); !reflect.DeepEqual(a, b) {
			t.Errorf("seed %d gives two histories", seed)
		}
	}
}

func TestAShortHistoryStillFails(t *testing.T) {
	t.Parallel()
	h := generate(3)
	if len(h.steps) < 5 {
		t.Fatalf("a history of %d steps is too short for this", len(h.steps))
	}
	// A history fails if a delivery of the API server follows a delivery of files.
	fails := func(h *history) bool {
		i := slices.IndexFunc(h.steps, func(s step) bool { return s.source == file })
		return i >= 0 && slices.ContainsFunc(h.steps[i:], func(s step) bool { return s.source == apiSource })
	}
	if !fails(h) {
		t.Fatal("the history has no such deliveries")
	}
	short := minimise(h, fails)
	if len(short.steps) != 2 || len(short.ids()) != 0 || !fails(short) {
		t.Errorf("want two empty deliveries, got\n%s", short)
	}
}
