package policy

import (
	"time"

	"github.com/wardlet/wardlet/core/strict"
)

// threshold is what a candidate must have shown before it may take the place of the
// policy in force.
type threshold struct {
	// MaxDifference is the greatest part of decisions in which it may say something
	// else, 0 to 1.
	MaxDifference float64 `toml:"max_difference"`
	// MinDecisions is in how many it must have been asked at least, MinTime for how
	// long.
	MinDecisions int           `toml:"min_decisions"`
	MinTime      time.Duration `toml:"min_time"`
}

func defaultThreshold() threshold { return threshold{MinDecisions: 100, MinTime: 10 * time.Minute} }

func (d *document) checkThreshold(report strict.Report) {
	t := &d.Shadow
	if d.Mode != modeShadow && *t != defaultThreshold() {
		report("shadow", "it counts in mode %q only; leave it out", modeShadow)
		return
	}
	if !(t.MaxDifference >= 0 && t.MaxDifference <= 1) {
		report("shadow.max_difference", "want 0 to 1, found %v", t.MaxDifference)
	}
	between(report, "shadow.min_decisions", t.MinDecisions, 1, 1_000_000)
	if t.MinTime < 0 {
		report("shadow.min_time", "want a duration of 0 or more, found %s", t.MinTime)
	}
}
