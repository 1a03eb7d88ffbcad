package agent

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

// answered are waits that were answered, unanswered questions that were not.
type (
	answered   []api.Waiting
	unanswered []api.Waiting
)

func (a answered) List() []api.Waiting { return append([]api.Waiting{}, a...) }

func (u unanswered) Asked() (all []api.Waiting) {
	for _, x := range u {
		x.Asked = new(*x.Asked)
		all = append(all, x)
	}
	return all
}

// busyPlane answers with the hook and the pod of the question, and with the policy p as the one at
// work.
type busyPlane struct{}

func (busyPlane) Asked(hook string, name types.NamespacedName, uid types.UID) (policy, message string) {
	return "p", hook + " of " + name.String() + " " + string(uid)
}

func TestWhatWaitsIsShownWithTheQuestionsThatHaveNoAnswer(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	waiting := func(name, document string, verdict api.Answer, asked *api.Asked) api.Waiting {
		return api.Waiting{
			Pod: &v1.Pod{ObjectMeta: metav1.ObjectMeta{
				Namespace: "shop", Name: name, UID: types.UID("u-" + name), Annotations: map[string]string{"wardlet.dev/identity": "team"},
			}},
			Origin: api.Origin{Source: "static", Document: document}, Verdict: api.Verdict{Answer: verdict}, Asked: asked,
		}
	}
	question := func(hook, policy, message string) *api.Asked {
		return &api.Asked{Hook: hook, Since: noon, Policy: policy, Message: message}
	}
	s := &asked{
		waits: answered{waiting("c", "c#0", api.Hold, nil), waiting("d", "d#0", api.Deny, nil)},
		questions: unanswered{
			waiting("d", "d#0", api.Deny, question(api.HookAdmit, "", "")),
			waiting("d", "e#0", "", question(api.HookAdmit, "", "")),
			waiting("b", "b#0", api.Hold, question(api.HookFilter, "", "")),
			waiting("a", "a#0", "", question(api.HookMerge, "", "")),
		},
	}
	want := func(when, policy string, said map[string]string) {
		t.Helper()
		list := []api.Waiting{
			waiting("a", "a#0", "", question(api.HookMerge, "p", "merge of shop/team u-a")),
			waiting("b", "b#0", api.Hold, question(api.HookFilter, policy, said["b"])),
			waiting("c", "c#0", api.Hold, nil),
			waiting("d", "d#0", api.Deny, question(api.HookAdmit, policy, said["d"])),
			waiting("d", "e#0", "", question(api.HookAdmit, policy, said["d"])),
		}
		if s.plane == nil {
			list[0].Asked = question(api.HookMerge, "", "")
		}
		if diff := cmp.Diff(list, s.List()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	want("without policies", "", nil)
	s.plane, s.adoption = busyPlane{}, unlisted(true)
	const notYet = "the runtime has not been listed yet, so it is not known what runs"
	want("before the runtime is listed", "", map[string]string{"b": notYet, "d": notYet})
	s.adoption = unlisted(false)
	want("then", "p", map[string]string{"b": "filter of shop/b u-b", "d": "admit of shop/d u-d"})
}

// unlisted is true while it is unknown which pods ran at the start.
type unlisted bool

func (u unlisted) Unlisted() bool { return bool(u) }
