package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/sched"
	"github.com/wardlet/wardlet/core/state"
)

// within has a plane whose tenants a and b may have 4 kB of records a second, and
// whose plugins take nothing.
func within(t *testing.T, do func(t *testing.T, p *Plane, disk *recordDisk)) {
	t.Helper()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("p", "deny")
		disk := &recordDisk{}
		p, _ := listed(t, d, s, tenanted(d, "a", "b"), func(c *Config) {
			c.Records = disk
			for i := range c.Tenants {
				c.Tenants[i].Dir, c.Tenants[i].FuelPerSecond = "", 4_000*recordByteFuel
			}
		})
		run(t, p)
		do(t, p, disk)
	})
}

// flood asks about pods that nobody has seen before, and gives how many had a
// verdict.
func flood(t *testing.T, p *Plane, namespace, name string, count int) (judged int) {
	t.Helper()
	for i := range count {
		q := policytest.Question(fmt.Sprintf("%s-%d", name, i), in(namespace))
		q.Pod.UID = types.UID(namespace + "/" + q.Pod.Name)
		if v := ask(t, p, q); v.Reason != api.ReasonBudgetExhausted {
			judged++
		}
	}
	return judged
}

func TestRecordsComeOutOfTheBudgetOfTheTenantWhosePodsTheyAreAbout(t *testing.T) {
	t.Parallel()
	within(t, func(t *testing.T, p *Plane, disk *recordDisk) {
		t.Helper()
		first := flood(t, p, "a", "web", 200)
		if first < 15 || first > 60 {
			t.Errorf("%d decisions were on record before 40 kB were spent", first)
		}
		for _, namespace := range []string{"b", "shop"} {
			if judged := flood(t, p, namespace, "web", 10); judged != 10 {
				t.Errorf("of 10 pods in %s %d were judged", namespace, judged)
			}
		}
		if written := disk.has(); len(written) != first+20 {
			t.Errorf("%d records, want %d", len(written), first+20)
		}
		time.Sleep(sched.Burst)
		if again := flood(t, p, "a", "later", 200); again < first-2 || again > first+2 {
			t.Errorf("%d decisions once the budget was full again, %d before", again, first)
		}
	})
}

func TestWhatIsNotWrittenCostsNoBudget(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(t *testing.T, p *Plane, disk *recordDisk) (judged int){
		"a decision that is made again": func(t *testing.T, p *Plane, _ *recordDisk) (judged int) {
			t.Helper()
			for range 200 {
				judged += flood(t, p, "a", "web", 1)
			}
			return judged
		},
		"a decision that the disk does not take": func(t *testing.T, p *Plane, disk *recordDisk) int {
			t.Helper()
			disk.set(errors.New("no space left"), nil)
			return flood(t, p, "a", "web", 200)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			within(t, func(t *testing.T, p *Plane, disk *recordDisk) {
				t.Helper()
				if judged := do(t, p, disk); judged != 200 {
					t.Errorf("of 200 questions %d were answered by policies", judged)
				}
			})
		})
	}
}

// onDisk is how many bytes of records are below a directory.
func onDisk(t *testing.T, dir string) (bytes int64) {
	t.Helper()
	policytest.Must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".log") {
			return err
		}
		info, err := d.Info()
		bytes += info.Size()
		return err
	}))
	return bytes
}

func TestARecordIsAsLongAsItIsCharged(t *testing.T) {
	t.Parallel()
	about := func(name, text string) *recording { return recorded(name, "a", text, func() {}) }
	for name, records := range map[string][]*recording{
		"little is said":              {about("web", "no")},
		"much is said":                {about("web", strings.Repeat("a word ", 4000))},
		"what is written out is said": {about("web", strings.Repeat("<\x01\"", 4000))},
		"of several pods":             {about("web", "no"), about("db", "no"), about("cache", "no")},
		"of one pod, again and again": {about("web", "no"), about("web", "never"), about("web", "not now")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "state")
			log, closeAll := recordsIn(t, dir)
			c := testConfig(policytest.NewTree(t), policytest.NewScripts())
			paid := newPaidRecords(log, sched.NewBudgets(map[string]int64{"a": 1 << 40}, policytest.Instant), func() time.Time { return policytest.Instant })
			for _, x := range records {
				policytest.Must(t, x.prepare(&c))
				policytest.Must(t, paid.Append("a", []state.DecisionEntry{x.entry})[0])
			}
			charged := (sched.MostOf(1<<40) - paid.budgets.LeftOf("a")) / recordByteFuel
			closeAll()
			if is := onDisk(t, dir); charged < is*9/10 || charged > is {
				t.Errorf("charged for %d bytes, there are %d", charged, is)
			}
		})
	}
}

func TestWhatIsKnownToBePaidDoesNotGrowForever(t *testing.T) {
	t.Parallel()
	paid := newPaidRecords(&recordDisk{}, sched.NewBudgets(map[string]int64{"a": 1}, policytest.Instant), func() time.Time { return policytest.Instant })
	for i := range 3 * maxPaidDocuments {
		entry := state.DecisionEntry{Record: &state.DecisionRecord{}, Inputs: map[string][]byte{strconv.Itoa(i): {}}}
		policytest.Must(t, paid.Append("a", []state.DecisionEntry{entry})[0])
		if n := len(paid.paid["a"]); n > maxPaidDocuments {
			t.Fatalf("%d documents are known", n)
		}
	}
}
