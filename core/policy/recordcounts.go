package policy

import (
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/state"
)

// countsPeriod is how often it is written, at most, that decisions were repeated:
// it takes room that records could have.
const countsPeriod = time.Hour

// repeated notes that a decision on record was made again.
func (r *ownRecorder) repeated(d *api.Decision) {
	if _, known := r.counts[d.ID]; !known && len(r.counts) >= maxDecisions {
		return // it is counted if it is repeated again after these were written
	}
	r.counts[d.ID] = state.DecisionCount{ID: d.ID, Count: d.Count, Last: d.Last}
}

// count writes from time to time how often decisions were repeated.
func (r *ownRecorder) count(last bool) {
	now := r.cfg.Now()
	if len(r.counts) == 0 || !last && now.Sub(r.counted) < countsPeriod {
		return
	}
	r.counted = now
	list := make([]state.DecisionCount, 0, len(r.counts))
	for _, c := range r.counts {
		list = append(list, c)
	}
	if err := r.cfg.Records.Counted(r.tenant, list); err != nil {
		r.fault(err.Error())
		return // they are tried again
	}
	clear(r.counts)
}
