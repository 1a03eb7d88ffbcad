package admission

import (
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
)

// Attributes are what handlers judge by. They change none of it.
type Attributes struct {
	Pod *v1.Pod
	// Verdict is what policy says of Pod, nil where no policy was asked.
	Verdict *api.Verdict
	// Others are the pods that use the node already, Pod not among them.
	Others []*v1.Pod
	// Ending use it, too, and are being ended: what they have is free soon. Those
	// come first that have the least time left.
	Ending []*v1.Pod
}

// Result is the answer of a handler.
type Result struct {
	Admitted bool
	// Preemption says which pods have to end before an admitted pod starts. It is
	// nil if none has to.
	Preemption *Preemption
	// Reason, in CamelCase, and Message say why not.
	Reason  string
	Message string
}

// Preemption makes room for a pod.
type Preemption struct {
	// Victims are pods that have to be ended.
	Victims []*v1.Pod
	// Await are pods that are being ended already, and whose room is needed: no more
	// than are enough.
	Await []*v1.Pod
}

// Handler judges one side of a pod. It answers at once, for the sync loop waits,
// and does nothing.
type Handler interface {
	Admit(a *Attributes) Result
}

// Chain asks its handlers in order; the first refusal counts. It is a Handler
// itself, and admits everything while it is empty. Room is made only for what all
// of them admit.
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
