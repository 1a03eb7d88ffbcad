package pleg

import (
	"flag"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	seeds = flag.Int("seeds", 2000, "how many histories to compare")
	seed  = flag.Uint64("seed", 0, "compare only the history of this seed; 0 is seeds from 1 on")
)

// compared runs compare in a synctest bubble.
func compared(t *testing.T, h *history, tally *tally) (err error) {
	t.Helper()
	synctest.Test(t, func(*testing.T) { err = compare(h, tally) })
	return err
}

func TestWardletTellsWhatAKubeletTells(t *testing.T) {
	first, n := uint64(1), *seeds
	if *seed != 0 {
		first, n = *seed, 1
	}
	total, failed := run(t, first, n, 3)
	for _, f := range failed {
		short := minimise(generate(f.seed), func(h *history) bool { return compared(t, h, newTally()) != nil })
		t.Errorf("seed %d (repeat with -seed %d): %v\nThe shortest history that fails:\n%s%v",
			f.seed, f.seed, f.err, short, compared(t, short, newTally()))
	}
	t.Logf("%d histories: %v", n, total)
	if *seed != 0 || len(failed) > 0 {
		return
	}
	for _, id := range predicates {
		if total.used[id] == 0 {
			t.Errorf("the difference %s was not met; is it none?", id)
		}
	}
}

// failure is a history in which the sides differ.
type failure struct {
	seed uint64
	err  error
}

// run compares n histories, and stops after enough failures.
func run(t *testing.T, first uint64, n, enough int) (*tally, []failure) {
	t.Helper()
	var (
		mu     sync.Mutex
		next   = first
		failed []failure
		total  = newTally()
		wg     sync.WaitGroup
	)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			own := newTally()
			for {
				mu.Lock()
				seed := next
				next++
				done := seed >= first+uint64(n) || len(failed) >= enough
				mu.Unlock()
				if done {
					break
				}
				if err := compared(t, generate(seed), own); err != nil {
					mu.Lock()
					failed = append(failed, failure{seed, err})
					mu.Unlock()
				}
			}
			mu.Lock()
			defer mu.Unlock()
			total.add(own)
		})
	}
	wg.Wait()
	slices.SortFunc(failed, func(a, b failure) int { return int(a.seed) - int(b.seed) })
	return total, failed
}

var line = regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\|")

func TestEveryDifferenceHasItsLineAndItsPredicate(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/differences.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## PLEG\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var lines []string
	for _, m := range line.FindAllStringSubmatch(section, -1) {
		lines = append(lines, m[1])
	}
	slices.Sort(lines)
	if want := slices.Sorted(slices.Values(predicates)); !slices.Equal(lines, want) {
		t.Errorf("docs/differences.md lists under \"PLEG\"\n%q\nand the predicates are\n%q", lines, want)
	}
}
