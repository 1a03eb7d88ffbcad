package stats

import (
	"time"

	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

// sample is a CPU time in nanoseconds, and when it was read. rate is the usage before it, nil if it
// is unknown.
type sample struct {
	at   time.Time
	used uint64
	rate *uint64
}

// rates computes CPU usage per second from two readings.
type rates struct {
	at     time.Time
	before map[string]sample
	now    map[string]sample
	// rated is true if there is a reading before that is not too old.
	rated bool
}

func (s *Stats) newRates(now time.Time) *rates {
	r := &rates{at: now, before: s.counters, now: map[string]sample{}}
	age := now.Sub(s.lastAt())
	r.rated = s.last != nil && age > 0 && age <= longest
	return r
}

// add records a CPU time under a key, and sets its rate unless the runtime has it. A rate of 0 counts
// as unknown, because runtimes report it at the first call.
func (r *rates) add(key string, c *statsapi.CPUStats) {
	if c == nil || c.UsageCoreNanoSeconds == nil {
		return
	}
	current := sample{at: c.Time.Time, used: *c.UsageCoreNanoSeconds}
	if c.UsageNanoCores == nil || *c.UsageNanoCores == 0 {
		c.UsageNanoCores = nil
		if before, known := r.before[key]; known {
			c.UsageNanoCores = before.rateUntil(current)
		}
	}
	current.rate = c.UsageNanoCores
	r.now[key] = current
}

// rateUntil returns the usage between two samples in nanoseconds per second, nil if it is unknown.
func (s *sample) rateUntil(now sample) *uint64 {
	passed := now.at.Sub(s.at)
	switch {
	case passed == 0 && now.used == s.used:
		return s.rate // the runtime has not measured again
	case passed <= 0 || passed > longest || now.used < s.used:
		return nil
	}
	return new(uint64(float64(now.used-s.used) * float64(time.Second) / float64(passed)))
}
