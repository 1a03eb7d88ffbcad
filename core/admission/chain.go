package admission

import (
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
)

// Attributes are the input of handlers, which must not change it.
type Attributes struct {
	Pod *v1.Pod
	// Verdict is the verdict of policy on Pod, nil if no policy was asked.
	Verdict *api.Verdict
	// Others are the pods that use the node already, without Pod.
	Others []*v1.Pod
	// Ending are terminating pods, whose resources become free soon. They are ordered by the time they
	// have left, the shortest first.
	Ending []*v1.Pod
}

// Result is the answer of a handler.
type Result struct {
	Admitted bool
	// Preemption says which pods must terminate before an admitted pod starts. It is nil if none must.
	Preemption *Preemption
	// Reason, in CamelCase, and Message say why the pod is not admitted.
	Reason  string
	Message string
}

// Preemption lists the pods whose termination makes room for a pod.
type Preemption struct {
	// Victims are the pods to terminate.
	Victims []*v1.Pod
	// Await are pods that are terminating already and whose resources are needed. There are no more of
	// them than necessary.
	Await []*v1.Pod
}

// Handler judges one aspect of a pod. It must not block, because the sync loop waits for it, and
// has no side effects.
type Handler interface {
	Admit(a *Attributes) Result
}

// Chain asks its handlers in order and returns the first refusal. It is a Handler itself. An empty
// chain admits every pod. Preemption is returned only if all handlers admit the pod.
type Chain []Handler

// Admit implements Handler.
func (c Chain) Admit(a *Attributes) Result {
	all := Result{Admitted: true}
	for _, h := range c {
		r := h.Admit(a)
		if !r.Admitted {
			return r
		}
		if r.Preemption != nil {
			all.Preemption = r.Preemption
		}
	}
	return all
}
