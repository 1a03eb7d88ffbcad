package agent

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

// origins are where the pods of this node come from, by UID: those that are wanted,
// and those that are being ended.
func (a *Agent) origins() map[types.UID]api.Origin {
	from := map[types.UID]api.Origin{}
	for _, e := range a.workers.Ending() {
		from[e.Pod.UID] = e.Origin
	}
	for _, d := range a.mux.Pods() {
		from[d.Pod.UID] = d.Origin
	}
	return from
}

// verdicts are those that are stored with the pods of this node, by UID.
func (a *Agent) verdicts() map[types.UID]*api.Verdict {
	stored := map[types.UID]*api.Verdict{}
	for _, d := range a.mux.Pods() {
		if d.Verdict != nil {
			stored[d.Pod.UID] = d.Verdict
		}
	}
	return stored
}
