package policy

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

func TestAFailureAndAHoldAreNoLastWord(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"an instance comes late":        "late",
		"the host fails for a while":    "unwell",
		"the plugin holds for a while":  "hold",
		"it says for how long it holds": "hold-for 10s",
		"it says that for a short time": "hold-for 1s",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				n := newRunning(somePods(4)...)
				calls := 0
				s.Edit = func(_ string, r *wasm.Result) {
					if calls++; calls > 8 || r.Answer == api.Allow {
						r.Answer = api.Deny
					}
				}
				d.Policy("a", script, onChangeEvicts)
				p := reviewing(t, d, s, n)
				run(t, p)
				settled()
				r := p.Sets()[0].Policies[0].Review
				if r.Violating != r.Judged || r.Waiting+r.Evicted != 4 {
					t.Errorf("review %+v, want each denied in the end", r)
				}
				for name, text := range n.shown {
					if !strings.Contains(text, "PolicyDenied") {
						t.Errorf("%s shows %q", name, text)
					}
				}
				if calls > 60 {
					t.Errorf("asked %d times", calls)
				}
			})
		})
	}
}

func TestWhatCannotBeToldIsAskedLessAndLessOften(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		script      string
		least, most int
	}{
		"a plugin that always fails":   {"trap boom", 12, 20},
		"one that always holds":        {"hold", 12, 20},
		"one that says when it is due": {"hold-for 5m", 11, 13},
		"one that can tell":            {"deny", 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				d.Policy("a", tc.script, onChangeReports)
				n := newRunning(runs("web"))
				calls := 0
				s.Edit = func(_ string, r *wasm.Result) {
					if calls++; r.Answer == api.Hold {
						r.Message = fmt.Sprint("the time ", calls)
					}
				}
				run(t, reviewing(t, d, s, n))
				time.Sleep(time.Hour)
				synctest.Wait()
				if len(n.told) != 1 {
					t.Errorf("told %q, want it once", n.told)
				}
				if calls := len(s.Calls()); calls < tc.least || calls > tc.most {
					t.Errorf("asked %d times in an hour, want %d to %d", calls, tc.least, tc.most)
				}
				// Under another set the pod is judged at once, without waiting for a retry.
				d.Policy("a", "deny No nobody", onChangeReports)
				before := len(s.Calls())
				time.Sleep(15 * time.Second)
				if calls := len(s.Calls()) - before; calls != 1 {
					t.Errorf("the next set is asked %d times", calls)
				}
			})
		})
	}
}

func TestAnExceptionEndsForPodsThatRun(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		admitted bool
		// away is how long no agent runs after the pod was admitted.
		away time.Duration
	}{
		"one that was judged again":                     {},
		"one that was admitted by the exception":        {admitted: true},
		"one whose exception ended while no agent runs": {admitted: true, away: 2 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				n := newRunning()
				until := time.Now().Add(time.Hour)
				d.Policy("a", "deny", onChangeReports, fmt.Sprintf("[[exception]]\npods = [\"shop/*\"]\nowner = \"me\"\nexpires = %q", until.UTC().Format(time.RFC3339)))
				p := reviewing(t, d, s, n)
				stop := run(t, p)
				web := runs("web")
				if tc.admitted {
					v := ask(t, p, policytest.Question("web"))
					web.Verdict = &v
				}
				if tc.away > 0 {
					stop()
					time.Sleep(tc.away)
					run(t, reviewing(t, d, s, n))
				}
				n.mu.Lock()
				n.pods[web.Pod.UID] = web
				n.mu.Unlock()
				time.Sleep(30 * time.Minute)
				if got := n.shows("web"); tc.away == 0 && (got != "" || len(s.Calls()) > 0) {
					t.Errorf("the exception holds, shown %q, asked %d times", got, len(s.Calls()))
				}
				time.Sleep(31 * time.Minute)
				if got := n.shows("web"); got != `policy "a": PolicyDenied` {
					t.Errorf("the exception is over, shown %q", got)
				}
				if got := len(s.Calls()); got != 1 {
					t.Errorf("asked %d times", got)
				}
			})
		})
	}
}

func TestWhatIsSeenOfTheNodeIsJudgedAgainWhenThatChanges(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		n := newRunning(somePods(10)...)
		facts := &Node{Pods: func() (out []NodePod) {
			for _, p := range n.Pods() {
				out = append(out, NodePod{Pod: p.Pod, Source: "static"})
			}
			return out
		}}
		s.Edit = func(_ string, r *wasm.Result) {
			if r.Answer == api.Hold {
				r.Answer = api.Deny
			}
		}
		d.Policy("q", "quota 6", onChangeReports, `capabilities = ["node.read"]`)
		run(t, reviewing(t, d, s, n, func(c *Config) { c.Facts = facts }))
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := len(n.shown); got != 10 {
			t.Errorf("%d of 10 pods violate a quota of 6", got)
		}
		calls := len(s.Calls())
		time.Sleep(time.Hour)
		if got := len(s.Calls()) - calls; got > 0 {
			t.Errorf("nothing changes, asked %d times", got)
		}
		n.mu.Lock()
		for _, r := range somePods(10)[:8] {
			delete(n.pods, r.Pod.UID)
		}
		n.mu.Unlock()
		time.Sleep(15 * time.Second)
		synctest.Wait()
		if got := len(n.shown); got > 0 {
			t.Errorf("2 pods are left, shown %v", n.shown)
		}
		if got := len(s.Calls()) - calls; got != 2 {
			t.Errorf("asked %d times, want once for each that is left", got)
		}
	})
}
