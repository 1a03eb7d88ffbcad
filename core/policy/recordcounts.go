package policy

import (
	"time"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// countsPeriod is how often it is written, at most, that decisions were repeated:
// it takes room that records could have.
const countsPeriod = time.Hour

// repeated notes that a decision on record was made again.
func (r *recorder) repeated(d *pod.Decision) {
	of := r.counts[d.Tenant]
	if of == nil {
		of = map[string]state.DecisionCount{}
		r.counts[d.Tenant] = of
	}
	if _, known := of[d.ID]; !known && len(of) >= maxDecisions {
		return // it is counted if it is repeated again after these were written
	}
	of[d.ID] = state.DecisionCount{ID: d.ID, Count: d.Count, Last: d.Last}
}

// count writes from time to time how often decisions were repeated.
func (r *recorder) count(last bool) {
	now := r.cfg.Now()
	if len(r.counts) == 0 || !last && now.Sub(r.counted) < countsPeriod {
		return
	}
	r.counted = now
	for tenant, of := range r.counts {
		list := make([]state.DecisionCount, 0, len(of))
		for _, c := range of {
			list = append(list, c)
		}
		if err := r.cfg.Records.Counted(tenant, list); err != nil {
			r.fault(err.Error())
		}
	}
	clear(r.counts)
}
