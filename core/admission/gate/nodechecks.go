package gate

import (
	"time"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/pod"
)

// NodeChecks is a gate that denies a newer version of a running pod which this node would refuse
// as a new pod, whatever room there is. The mux knows the denial like a policy's, so the former
// version continues to run, also after restarts.
type NodeChecks struct {
	mux.Gate
	// Checks are those of the admitter that need no room, in the same order.
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

// reasonNotInPlace is why an API server's pod does not take an update.
const reasonNotInPlace = "NotInPlace"

// admit reports whether the node lets an update pass that has this verdict. An API server's
// pod keeps what it is made from until it is deleted: the API lets nothing of that change but
// resources, which are not resized in place yet.
func (s NodeChecks) admit(q *api.Question, v *api.Verdict) admission.Result {
	p := v.Mutation.Of(q.Pod)
	if path := pod.Remade(q.Old, p); path != "" && !pod.IsStatic(p) {
		return admission.Result{Reason: reasonNotInPlace, Message: path + " cannot change while the pod runs: delete the pod and create it anew"}
	}
	return s.Checks.Admit(&admission.Attributes{Pod: p, Verdict: v})
}
