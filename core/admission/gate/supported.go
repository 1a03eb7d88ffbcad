package gate

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/pod"
)

// Supported is a gate that denies an API server's pod with fields that this version does not
// support. A manifest with such fields is rejected when it is read. For an API server's pod, only
// the status can report them.
type Supported struct {
	mux.Gate
	// Check returns an error that names the fields not supported for a pod, nil for none.
	Check func(p *v1.Pod) error
	// Pace may delay a denial; see pacing.Pacing.
	Pace func(q *api.Question, v api.Verdict, now time.Time) api.Verdict
	Now  func() time.Time
}

// Judge implements mux.Gate.
func (s Supported) Judge(q api.Question, answer func(api.Verdict)) {
	if pod.IsStatic(q.Pod) {
		s.Gate.Judge(q, answer)
		return
	}
	err := s.Check(q.Pod)
	if err == nil {
		s.Gate.Judge(q, answer)
		return
	}
	now := s.Now()
	answer(s.Pace(&q, api.Verdict{Answer: api.Deny, Reason: api.ReasonUnsupportedField, Message: err.Error(), At: now}, now))
}
