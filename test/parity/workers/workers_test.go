package workers

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

var (
	seeds = flag.Int("seeds", 2000, "how many histories to compare")
	seed  = flag.Uint64("seed", 0, "compare only the history of this seed; 0 is seeds from 1 on")
)

// kubelet starts a kubelet's workers for a test.
func kubelet(t *testing.T) *theirs {
	t.Helper()
	k, err := startTheirs(program)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.stop(); err != nil {
			t.Error(err)
		}
	})
	return k
}

// compared plays a history on both sides and returns an error where they differ.
func compared(t *testing.T, k *theirs, all []wish, tally *tally) ([]Step, error) {
	t.Helper()
	var p *player
	synctest.Test(t, func(*testing.T) { p = playWishes(all) })
	looks, err := k.play(p.steps)
	if err != nil {
		return p.steps, err
	}
	if len(looks) != len(p.looks) {
		return p.steps, fmt.Errorf("%d steps have %d looks", len(p.steps), len(looks))
	}
	for i := range looks {
		if err := same(&looks[i], &p.looks[i], tally.used); err != nil {
			return p.steps, fmt.Errorf("after step %d: %w", i+1, err)
		}
		tally.note(&p.looks[i])
	}
	return p.steps, nil
}

func TestWorkersAnswerWhatAKubeletsAnswer(t *testing.T) {
	first, n := uint64(1), *seeds
	if *seed != 0 {
		first, n = *seed, 1
	}
	k := kubelet(t)
	total, failed := run(t, k, first, n, 3)
	for _, f := range failed {
		short := minimise(generate(f.seed), func(all []wish) bool {
			_, err := compared(t, k, all, newTally())
			return err != nil
		})
		steps, err := compared(t, k, short, newTally())
		t.Errorf("seed %d (repeat with -seed %d): %v\nThe shortest history that fails:\n%s%v", f.seed, f.seed, f.err, written(steps), err)
	}
	t.Logf("%d histories: %v", n, total)
	if *seed != 0 || len(failed) > 0 {
		return
	}
	for _, id := range []string{evictedContentWaits, whatRunsIsKept} {
		if total.used[id] == 0 {
			t.Errorf("the difference %s was not met; is it none?", id)
		}
	}
	for what, times := range total.met {
		if times < n/20 {
			t.Errorf("met %d times only: %s", times, what)
		}
	}
}

func TestEveryOtherDifferenceIsOne(t *testing.T) {
	k := kubelet(t)
	for _, a := range aparts() {
		t.Run(a.id+": "+a.name, func(t *testing.T) {
			var ours []Look
			synctest.Test(t, func(*testing.T) { ours = playSteps(a.steps) })
			looks, err := k.play(a.steps)
			if err != nil {
				t.Fatal(err)
			}
			last := len(looks) - 1
			if got, want := ours[last].Pods[a.uid], looks[last].Pods[a.uid]; !a.differ(want, got) {
				t.Errorf("the sides do not differ as it says: a kubelet\n%+v\nwardlet\n%+v", want, got)
			}
		})
	}
}

// failure is a history in which the sides differ.
type failure struct {
	seed uint64
	err  error
}

// run compares n histories, and stops after enough failures.
func run(t *testing.T, k *theirs, first uint64, n, enough int) (*tally, []failure) {
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
				if _, err := compared(t, k, generate(seed), own); err != nil {
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
	_, section, _ := strings.Cut(string(text), "\n## Workers\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var lines []string
	for _, m := range line.FindAllStringSubmatch(section, -1) {
		lines = append(lines, m[1])
	}
	slices.Sort(lines)
	if want := slices.Sorted(slices.Values(predicates)); !slices.Equal(lines, want) {
		t.Errorf("docs/differences.md lists under \"Workers\"\n%q\nand the predicates are\n%q", lines, want)
	}
}
