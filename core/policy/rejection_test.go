package policy

import (
	"slices"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/review"
)

// rejected marks running pods as part of a conflict that was answered with r.
func rejected(pods []review.RunningPod, r api.Resolution) {
	for i := range pods {
		pods[i].Rejected = &r
	}
}

func TestWhatBecomesOfPodsWhoseConflictIsRejected(t *testing.T) {
	t.Parallel()
	const message = `policy "m": ConflictRejected: neither may`
	for name, tc := range map[string]struct {
		keys string
		// change modifies the answer to the conflict.
		change func(*api.Resolution)
		exempt []string
		gone   int
		shown  string
	}{
		"they run on by default":              {"", nil, nil, 0, ""},
		"they are shown":                      {`on_change = "report"`, nil, nil, 0, message},
		"a tenth of them goes, one at least":  {onChangeEvicts, nil, nil, 2, message + `; 2 of 20 pods were evicted, this one waits for "wardlet policy confirm m"`},
		"an exempt one stays":                 {onChangeEvicts, nil, []string{"shop/p19"}, 2, message + "; the pod is exempt and runs on"},
		"an answer of other sets counts none": {onChangeEvicts, func(r *api.Resolution) { r.Sets = []string{"operator@0"} }, nil, 0, ""},
		"nor does one of another policy":      {onChangeEvicts, func(r *api.Resolution) { r.Policy = "other" }, nil, 0, ""},
		"nor one of another owner":            {onChangeEvicts, func(r *api.Resolution) { r.Tenant = "a" }, nil, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				d.Hooked("m", api.HookMerge, "reject Twice neither may", tc.keys)
				pods := somePods(20)
				n := newRunning()
				p := reviewing(t, d, s, n, ranked, evictionsIn(newCounts()), exempting(tc.exempt...))
				run(t, p)
				r := resolve(t, p, contestOf("shop", "fleet"))
				if r.Choice != api.ChooseNone {
					t.Fatalf("resolution %+v", r)
				}
				if tc.change != nil {
					tc.change(&r)
				}
				rejected(pods, r)
				n.mu.Lock()
				for _, p := range pods {
					n.pods[p.Pod.UID] = p
				}
				n.mu.Unlock()
				settled()
				if got := n.gone(); len(got) != tc.gone {
					t.Errorf("evicted %q, want %d", got, tc.gone)
				}
				expectPace(t, n)
				if got := n.shows("p19"); got != tc.shown {
					t.Errorf("shown %q, want %q", got, tc.shown)
				}
				for _, e := range n.evicted {
					if e.by.Answer != api.Deny || e.by.Reason != api.ReasonConflictRejected || e.by.Policy != "m" || e.by.Message != message {
						t.Errorf("evicted by %+v", e.by)
					}
				}
			})
		})
	}
}

func TestAConflictThatIsDecidedOtherwiseEvictsNoMore(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Hooked("m", api.HookMerge, "reject", onChangeEvicts)
		n := newRunning()
		p := reviewing(t, d, s, n, ranked, evictionsIn(newCounts()))
		run(t, p)
		r := resolve(t, p, contestOf("shop", "fleet"))
		pods := somePods(60)
		rejected(pods, r)
		n.mu.Lock()
		for _, p := range pods {
			n.pods[p.Pod.UID] = p
		}
		n.mu.Unlock()
		for len(n.gone()) < 2 {
			time.Sleep(time.Second)
		}
		n.mu.Lock()
		for uid, p := range n.pods {
			p.Rejected = nil
			n.pods[uid] = p
		}
		n.mu.Unlock()
		settled()
		if got := n.gone(); len(got) != 2 {
			t.Errorf("evicted %q, want two", got)
		}
		if i := slices.IndexFunc(pods, func(p review.RunningPod) bool { return n.shows(p.Pod.Name) != "" }); i >= 0 {
			t.Errorf("still shown: %s", n.shows(pods[i].Pod.Name))
		}
	})
}
