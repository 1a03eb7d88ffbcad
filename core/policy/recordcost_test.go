package policy

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/sched"
)

// within runs do with an engine whose tenants a and b may write 4 kB of records a second, and
// whose plugins use no fuel.
func within(t *testing.T, do func(t *testing.T, p *Engine, disk *policytest.RecordDisk)) {
	t.Helper()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("p", "deny")
		disk := &policytest.RecordDisk{}
		p, _ := listed(t, d, s, tenanted(d, "a", "b"), func(c *Config) {
			c.Records = disk
			for i := range c.Tenants {
				c.Tenants[i].Dir, c.Tenants[i].FuelPerSecond = "", 4_000*sched.RecordByteFuel
			}
		})
		run(t, p)
		do(t, p, disk)
	})
}

// flood asks about pods that were not seen before, and returns how many a policy judged:
// their verdict is not ReasonBudgetExhausted.
func flood(t *testing.T, p *Engine, namespace, name string, count int) (judged int) {
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
	within(t, func(t *testing.T, p *Engine, disk *policytest.RecordDisk) {
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
		if written := disk.Has(); len(written) != first+20 {
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
	for name, do := range map[string]func(t *testing.T, p *Engine, disk *policytest.RecordDisk) (judged int){
		"a decision that is made again": func(t *testing.T, p *Engine, _ *policytest.RecordDisk) (judged int) {
			t.Helper()
			for range 200 {
				judged += flood(t, p, "a", "web", 1)
			}
			return judged
		},
		"a decision that the disk does not take": func(t *testing.T, p *Engine, disk *policytest.RecordDisk) int {
			t.Helper()
			disk.Set(errors.New("no space left"), nil)
			return flood(t, p, "a", "web", 200)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			within(t, func(t *testing.T, p *Engine, disk *policytest.RecordDisk) {
				t.Helper()
				if judged := do(t, p, disk); judged != 200 {
					t.Errorf("of 200 questions %d were answered by policies", judged)
				}
			})
		})
	}
}
