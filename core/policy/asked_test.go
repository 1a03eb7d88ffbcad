package policy

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/sched"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// saysOf returns a function that waits until all goroutines are idle, then checks the policy
// and the message that Asked returns for a question to a hook about a pod.
func saysOf(t *testing.T, p *Engine) func(when, hook string, of *api.Question, policy, message string) {
	t.Helper()
	return func(when, hook string, of *api.Question, policy, message string) {
		t.Helper()
		synctest.Wait()
		name := types.NamespacedName{Namespace: of.Pod.Namespace, Name: of.Pod.Name}
		if gotPolicy, got := p.Asked(hook, name, of.Pod.UID); gotPolicy != policy || got != message {
			t.Errorf("%s: %q %q, want %q %q", when, gotPolicy, got, policy, message)
		}
	}
}

// count returns how many questions are open.
func (o *inflight) count() (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, all := range o.of {
		n += len(all)
	}
	return n
}

func TestItIsSaidWhatTheAnswerToAQuestionWaitsFor(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("slow", "wait")
		disk, hang := &policytest.RecordDisk{}, make(chan struct{})
		disk.Set(nil, hang)
		p, _ := listed(t, d, s, func(c *Config) { c.Records = disk })
		want := saysOf(t, p)
		web, next := policytest.Question("web"), policytest.Question("next")
		want("nobody has asked", api.HookAdmit, &web, "", "")
		answers := make(chan api.Verdict, 2)
		p.Judge(web, func(v api.Verdict) { answers <- v })
		p.Judge(next, func(v api.Verdict) { answers <- v })
		want("before a set was tried", api.HookAdmit, &web, "", "the policies of "+d.Dir+" are being loaded for the first time")
		run(t, p)
		<-s.Waits
		const asked = `policy "slow" is being asked`
		want("in the plugin", api.HookAdmit, &web, "slow", asked)
		want("behind another", api.HookAdmit, &next, "", "other questions come first")
		want("another hook", api.HookFilter, &web, "", "")
		p.Judge(web, func(v api.Verdict) { answers <- v })
		want("asked again, behind others", api.HookAdmit, &web, "", "other questions come first")
		s.Free <- struct{}{}
		<-s.Waits
		want("now that one is", api.HookAdmit, &next, "slow", asked)
		s.Free <- struct{}{}
		<-s.Waits
		s.Free <- struct{}{}
		want("before the record is written", api.HookAdmit, &next, "", "it is decided, and answered once that is on record")
		close(hang)
		for range 3 {
			<-answers
		}
		want("answered", api.HookAdmit, &web, "", "")
		want("answered, too", api.HookAdmit, &next, "", "")
		if len(p.inflight.of) != 0 {
			t.Errorf("all is answered, and %d questions are open", len(p.inflight.of))
		}
	})
}

func TestItIsSaidThatAConflictWaitsForTheBudgetOfItsTenant(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("node", "deny")
		s.Edit = func(_ string, r *wasm.Result) { r.Fuel = 3000 }
		p, _ := listed(t, d, s, tenanted(d, "a"), func(c *Config) { c.Tenants[0].Dir, c.Tenants[0].FuelPerSecond = "", 100 })
		run(t, p)
		web := policytest.Question("web", in("a"))
		ask(t, p, web)
		decided := make(chan api.Resolution, 1)
		p.Rules().Resolve(contestOf("a", ""), func(r api.Resolution) { decided <- r })
		want := saysOf(t, p)
		want("the budget is spent", api.HookMerge, &web, "", `tenant "a" has spent its fuel_per_second`)
		time.Sleep(time.Minute)
		<-decided
		want("there is something in it", api.HookMerge, &web, "", "")
		if len(p.inflight.of) != 0 {
			t.Errorf("all is answered, and %d questions are open", len(p.inflight.of))
		}
	})
}

func TestItIsSaidThatQuestionsWaitForTheRecordsOfOthers(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("node", "allow")
		disk, hang := &policytest.RecordDisk{}, make(chan struct{})
		disk.Set(nil, hang)
		p, _ := listed(t, d, s, func(c *Config) { c.Records = disk })
		run(t, p)
		time.Sleep(time.Second)
		for i := 0; !p.recorder.Behind(""); i++ {
			p.Judge(policytest.Question(fmt.Sprint("web", i)), func(api.Verdict) {})
			synctest.Wait()
		}
		last := policytest.Question("last")
		p.Judge(last, func(api.Verdict) {})
		saysOf(t, p)("too many are", api.HookAdmit, &last, "", "too many decisions before it wait to be put on record")
		close(hang)
	})
}

func TestAContestThatIsPutOffAgainAndAgainStaysOneQuestion(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, _ *policytest.Scripts) {
		t := d.T
		d.Policy("node", "deny")
		p, _ := listed(t, d, policytest.NewScripts(), tenanted(d, "a"), func(c *Config) { c.Tenants[0].Dir, c.Tenants[0].FuelPerSecond = "", 1000 })
		run(t, p)
		web := policytest.Question("web", in("a"))
		ask(t, p, web)
		p.budgets.Spend("a", 20_000, time.Now())
		decided := make(chan api.Resolution, 2)
		p.Rules().Resolve(contestOf("a", ""), func(r api.Resolution) { decided <- r })
		want := saysOf(t, p)
		for range 100 {
			time.Sleep(sched.MaxPutOff)
			p.budgets.Spend("a", 10_000, time.Now()) // spends what the tenant earned in that time
			want("there is nothing in the budget", api.HookMerge, &web, "", `tenant "a" has spent its fuel_per_second`)
		}
		if open := p.inflight.count(); open != 1 || len(decided) != 0 {
			t.Errorf("%d questions are open of the one that was asked, and it has %d answers", open, len(decided))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if open := p.inflight.count(); open != 0 || len(decided) != 1 {
			t.Errorf("it has %d answers, and %d questions are open", len(decided), open)
		}
	})
}

func TestOfAContestThatIsDecidedNobodySaysThatItWaitsForTheBudget(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Hooked("m", api.HookMerge, "keep")
		disk, hang := &policytest.RecordDisk{}, make(chan struct{})
		p, _ := listed(t, d, s, tenanted(d, "a"), func(c *Config) {
			c.Tenants[0].Dir, c.Tenants[0].FuelPerSecond, c.Records = "", 1_000_000, disk
		})
		run(t, p)
		ask(t, p, policytest.Question("warm"))
		disk.Set(nil, hang)
		decided := make(chan api.Resolution, 1)
		p.Rules().Resolve(contestOf("a", ""), func(r api.Resolution) { decided <- r })
		synctest.Wait()
		p.budgets.Spend("a", 100_000_000, time.Now())
		web := policytest.Question("web", in("a"))
		saysOf(t, p)("its record is not written", api.HookMerge, &web, "", "it is decided, and answered once that is on record")
		close(hang)
		<-decided
	})
}
