package policy

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

func TestAnEditOfAPolicyIsNoConfirmation(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		between time.Duration
		confirm bool
		want    int
	}{
		"edits one after the other":  {time.Minute, false, 5},
		"an edit a day later":        {25 * time.Hour, false, 5 + 4},
		"an edit of a confirmed one": {time.Minute, true, 50},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				n, kept := newRunning(somePods(50)...), newCounts()
				d.Policy("deny-all", "deny No nobody", onChangeEvicts)
				p := reviewing(t, d, s, n, evictionsIn(kept))
				run(t, p)
				settled()
				if tc.confirm {
					_, err := p.Confirm(t.Context(), "", "deny-all", "")
					policytest.Must(t, err)
					settled()
				}
				edits := 1
				if tc.between < time.Hour {
					edits = 5
				}
				for i := range edits {
					time.Sleep(tc.between)
					d.Policy("deny-all", "deny No nobody", onChangeEvicts, fmt.Sprintf("# edit %d", i))
					settled()
				}
				if got := len(n.gone()); got != tc.want {
					t.Errorf("%d of 50 evicted, want %d", got, tc.want)
				}
			})
		})
	}
}

func TestThePodsOfTheLowestPriorityGoFirst(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		pods := somePods(30)
		for i := range pods {
			pods[i] = runs(pods[i].Pod.Name, func(p *v1.Pod) { p.Spec.Priority = new(int32(100 - i%10)) })
		}
		n := newRunning(pods...)
		d.Policy("a", "deny", onChangeEvicts)
		s.Edit = func(string, *wasm.Result) { time.Sleep(300 * time.Millisecond) } // the pods judged last have the newest verdicts
		run(t, reviewing(t, d, s, n))
		settled()
		got := n.gone()
		slices.Sort(got)
		if diff := cmp.Diff([]string{"p09", "p19", "p29"}, got); diff != "" {
			t.Errorf("evicted (-want +got):\n%s", diff)
		}
	})
}
