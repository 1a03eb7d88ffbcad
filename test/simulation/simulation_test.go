package simulation

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var (
	steps   = flag.Int("steps", leastSteps, "how many steps to take")
	seed    = flag.Uint64("seed", 0, "play only the script of this seed, several times; 0 is seeds from 1 on")
	from    = flag.Uint64("from", 1, "the first seed")
	effort  = flag.Duration("effort", 30*time.Second, "for how long a script that fails is made shorter")
	tracing = flag.Bool("trace", false, "with -seed: say all that happens")
)

// leastSteps is how many steps are taken at least.
const leastSteps = 100_000

//go:embed regressions.txt
var regressions string

// retries is how often a script that failed is played again: what happens in one instant
// has no order.
const retries = 5

func TestNothingEverGoesWrong(t *testing.T) {
	t.Parallel()
	seeds := regressionSeeds(t)
	if *seed != 0 {
		seeds = slices.Repeat([]uint64{*seed}, 1+retries)
	}
	var next, taken, failed atomic.Int64
	next.Store(-1)
	for i := range runtime.GOMAXPROCS(0) {
		t.Run(fmt.Sprint("player ", i), func(t *testing.T) {
			t.Parallel()
			for failed.Load() == 0 {
				n := int(next.Add(1))
				var of uint64
				switch {
				case n < len(seeds):
					of = seeds[n]
				case *seed != 0 || taken.Load() >= int64(*steps):
					return
				default:
					of = *from + uint64(n-len(seeds))
				}
				count, trace, wrong := play(t, generate(of), *tracing)
				taken.Add(int64(count))
				if wrong != nil {
					failed.Add(1)
					tell(t, of, wrong, trace)
				}
			}
		})
	}
	t.Cleanup(func() {
		t.Logf("%d steps were taken", taken.Load())
		if *seed == 0 && failed.Load() == 0 && taken.Load() < int64(min(*steps, leastSteps)) {
			t.Errorf("%d steps are too few", taken.Load())
		}
	})
}

// tell reports a script that failed, after making it as short as possible.
func tell(t *testing.T, of uint64, wrong error, trace []string) {
	t.Helper()
	end := time.Now().Add(*effort)
	short := minimise(generate(of), 300, func(s *script) bool { return time.Now().Before(end) && fails(t, s, kindOf(wrong)) })
	var still error
	for range retries {
		if _, log, err := play(t, short, true); kindOf(err) == kindOf(wrong) {
			still, trace = err, log
			break
		}
	}
	if still == nil {
		short = generate(of)
	}
	t.Errorf("seed %d (repeat with -run TestNothingEverGoesWrong -seed %d, and add it to regressions.txt): %v\n"+
		"The shortest script that fails, with %v:\n%s\nWhat happened in it:\n%s", of, of, wrong, still, short, strings.Join(trace, "\n"))
}

// fails reports whether a script fails with this kind of violation in one of two tries.
func fails(t *testing.T, s *script, kind string) bool {
	t.Helper()
	for range 2 {
		if _, _, wrong := play(t, s, false); kindOf(wrong) == kind {
			return true
		}
	}
	return false
}

// kindOf returns the kind of violation of a failed script, empty for a script that succeeded.
func kindOf(wrong error) string {
	if v, ok := errors.AsType[violation](wrong); ok {
		return v.kind
	}
	return ""
}

func regressionSeeds(t *testing.T) (seeds []uint64) {
	t.Helper()
	for line := range strings.Lines(regressions) {
		text, _, _ := strings.Cut(line, "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		n, err := strconv.ParseUint(fields[0], 10, 64)
		if err != nil {
			t.Fatalf("regressions.txt: %v", err)
		}
		seeds = append(seeds, n)
	}
	return seeds
}

func TestAScriptIsTheSameEveryTime(t *testing.T) {
	t.Parallel()
	for of := range uint64(20) {
		if a, b := generate(of), generate(of); !reflect.DeepEqual(a, b) {
			t.Errorf("seed %d gives two scripts", of)
		}
	}
}

func TestAShortScriptStillFails(t *testing.T) {
	t.Parallel()
	// A script fails here if the agent is killed after a document was added.
	bad := func(s *script) bool {
		i := slices.IndexFunc(s.steps, func(st step) bool { return st.do == add })
		return i >= 0 && slices.ContainsFunc(s.steps[i:], func(st step) bool { return st.do == crash })
	}
	s := generate(1)
	for of := uint64(2); !bad(s); of++ {
		s = generate(of)
	}
	short := minimise(s, 10_000, bad)
	if len(short.steps) != 2 || !bad(short) {
		t.Errorf("want two steps, got\n%v", short)
	}
}

func TestTheWallClockJumpsAndDurationsDoNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &clock{start: time.Now()}
		before := c.now()
		if !before.Equal(c.start) {
			t.Errorf("the clock begins at %v, not %v", before, c.start)
		}
		for _, years := range []int{10, -20, 10} {
			c.jump(time.Duration(years) * 365 * 24 * time.Hour)
			time.Sleep(1500 * time.Millisecond)
		}
		after := c.now()
		if got := after.Sub(before); got != 4500*time.Millisecond {
			t.Errorf("%s have passed, not 4.5 s", got)
		}
		c.jump(24 * time.Hour)
		if got := c.wall().Sub(before.Round(0)); got != 24*time.Hour+4500*time.Millisecond {
			t.Errorf("the wall clock went on by %s", got)
		}
		if got := c.now().Sub(before); got != 4500*time.Millisecond {
			t.Errorf("a jump let %s pass", got)
		}
	})
}
