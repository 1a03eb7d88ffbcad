package gate

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/pod"
)

// Supported is a gate that denies what an API server's pod asks for and this version does not do. Manifests say so
// themselves where they are written; of an API server's pod only the status can say it.
type Supported struct {
	mux.Gate
	// Check returns what the agent does not do for a pod, nil for nothing.
	Check func(p *v1.Pod) error
	// Pace may put a denial off; see pacing.Pacing.
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
