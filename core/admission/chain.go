package admission

import (
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// Attributes are what handlers judge by. They change none of it.
type Attributes struct {
	Pod *v1.Pod
	// Verdict is what policy says of Pod, nil where no policy was asked.
	Verdict *pod.Verdict
	// Others are the pods that use the node already, Pod not among them.
	Others []*v1.Pod
}

// Result is the answer of a handler.
type Result struct {
	Admitted bool
	// Reason, in CamelCase, and Message say why not.
	Reason  string
	Message string
}

// Handler judges one side of a pod. It answers at once: the sync loop waits.
type Handler interface {
	Admit(a *Attributes) Result
}

// Chain asks its handlers in order; the first refusal counts. It is a Handler
// itself, and admits everything while it is empty.
type Chain []Handler

// Admit implements Handler.
func (c Chain) Admit(a *Attributes) Result {
	for _, h := range c {
		if r := h.Admit(a); !r.Admitted {
			return r
		}
	}
	return Result{Admitted: true}
}
