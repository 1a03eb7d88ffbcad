package gate

import (
	"time"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/pod"
)

// NodeChecks is a gate that denies a newer version of a running pod if this node would refuse it as
// a new pod, regardless of free room. The mux treats the denial like a policy's, so the previous
// version continues to run, also after restarts.
type NodeChecks struct {
	mux.Gate
	// Checks are the checks of the admitter that do not depend on free room, in the same order.
	Checks admission.Handler
	Now    func() time.Time
}

// Judge implements mux.Gate.
func (s NodeChecks) Judge(q api.Question, answer func(api.Verdict)) {
	if q.Op != api.UpdateOp {
		s.Gate.Judge(q, answer)
		return
	}
	s.Gate.Judge(q, func(v api.Verdict) {
		if v.Answer == api.Allow {
			if r := s.admit(&q, &v); !r.Admitted {
				v.Answer, v.Reason, v.Message, v.Policy, v.Tenant, v.Mutation = api.Deny, r.Reason, r.Message, "", "", nil
				if v.At.IsZero() {
					v.At = s.Now()
				}
			}
		}
		answer(v)
	})
}

// reasonNotInPlace is the reason for denying an update of an API server's pod.
const reasonNotInPlace = "NotInPlace"

// admit checks whether the node admits an update that policies allowed with the verdict v. A pod of
// an API server cannot change the parts it was made from until it is deleted: the API only lets its
// resources change, and resizing in place is not supported yet.
func (s NodeChecks) admit(q *api.Question, v *api.Verdict) admission.Result {
	p := v.Mutation.Of(q.Pod)
	if path := pod.Remade(q.Old, p); path != "" && !pod.IsStatic(p) {
		return admission.Result{Reason: reasonNotInPlace, Message: path + " cannot change while the pod runs: delete the pod and create it anew"}
	}
	return s.Checks.Admit(&admission.Attributes{Pod: p, Verdict: v})
}
