package agent

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// asked gives the versions of pods that wait, as they are shown: also those about
// which nothing was answered yet, and with what the answer waits for.
type asked struct {
	// waits have what was answered, questions what was not.
	waits     interface{ List() []api.Waiting }
	questions interface{ Asked() []api.Waiting }
	// plane says what the answer to a question waits for, and which policy is at it;
	// nil for an agent without policies.
	plane interface {
		Asked(hook string, name types.NamespacedName, uid types.UID) (policy, message string)
	}
	adoption *adoption
}

// asking are the waits of this agent.
func (a *Agent) asking() *asked {
	s := &asked{waits: a.waits, questions: a.mux, adoption: a.adoption}
	if a.policies != nil {
		s.plane = a.policies
	}
	return s
}

// List gives what waits, ordered by namespace and name of the waiting pod.
func (s *asked) List() []api.Waiting {
	list := s.waits.List()
	for _, x := range s.questions.Asked() {
		s.explain(&x)
		i := slices.IndexFunc(list, func(w api.Waiting) bool {
			return w.Pod.UID == x.Pod.UID && w.Origin.Source == x.Origin.Source && w.Origin.Document == x.Origin.Document
		})
		if i < 0 {
			list = append(list, x)
			continue
		}
		list[i].Asked = x.Asked
	}
	slices.SortStableFunc(list, func(a, b api.Waiting) int {
		return cmp.Or(cmp.Compare(a.Pod.Namespace, b.Pod.Namespace), cmp.Compare(a.Pod.Name, b.Pod.Name), cmp.Compare(a.Pod.UID, b.Pod.UID))
	})
	return list
}

// explain says what the answer waits for.
func (s *asked) explain(x *api.Waiting) {
	name := types.NamespacedName{Namespace: x.Pod.Namespace, Name: x.Pod.Name}
	switch {
	case s.plane == nil:
		return
	case x.Asked.Hook == api.HookMerge:
		name = pod.Identity(x.Pod)
	case (x.Asked.Hook == api.HookAdmit || x.Running == nil) && s.adoption.unlisted():
		x.Asked.Message = "the runtime has not been listed yet, so it is not known what runs"
		return
	}
	x.Asked.Policy, x.Asked.Message = s.plane.Asked(x.Asked.Hook, name, x.Pod.UID)
}
