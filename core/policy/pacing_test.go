package policy

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

// ofController returns a question about a pod that a controller made.
func ofController(name, controller string, change ...func(*api.Question)) api.Question {
	q := policytest.Question(name, change...)
	q.Pod.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: controller, UID: types.UID(controller), Controller: new(true)}}
	return q
}

func TestOnlyPodsOfAnAPIServerArePacedAndOnlyWhereThatIsWanted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		source string
		off    bool
		want   api.Answer
	}{
		"an API server":               {"cluster", false, api.Hold},
		"a file":                      {"static", false, api.Deny},
		"an API server, switched off": {"cluster", true, api.Deny},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				d.Policy("a", "deny No no")
				p, _ := listed(t, d, s, func(c *Config) { c.DenyAtOnce = test.off })
				run(t, p)
				from := func(q *api.Question) { q.Origin.Source = test.source }
				if got := ask(t, p, ofController("a", "rs", from)); got.Answer != api.Deny {
					t.Errorf("the first: %+v", got)
				}
				if got := ask(t, p, ofController("b", "rs", from)); got.Answer != test.want {
					t.Errorf("the second: %+v", got)
				}
			})
		})
	}
}
