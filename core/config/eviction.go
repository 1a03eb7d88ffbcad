package config

import (
	"maps"
	"strconv"
	"time"

	"github.com/wardlet/wardlet/core/eviction/threshold"
	"github.com/wardlet/wardlet/core/strict"
)

// Eviction configures when pods are evicted because the node runs out of a resource. The keys of
// the maps are signals, see core/eviction/threshold.
type Eviction struct {
	// Hard and Soft are quantities, or percentages of the capacity, below which pods are evicted. Load
	// adds the defaults of signals that Hard does not have.
	Hard map[string]string `toml:"hard"`
	Soft map[string]string `toml:"soft"`
	// SoftGracePeriod is for how long a soft threshold must be met.
	SoftGracePeriod map[string]time.Duration `toml:"soft_grace_period"`
	// MinimumReclaim are quantities or percentages: how much more than the threshold must be available
	// before eviction ends.
	MinimumReclaim map[string]string `toml:"minimum_reclaim"`
	// PressureTransitionPeriod is for how long a condition stays after its thresholds were met;
	// positive.
	PressureTransitionPeriod time.Duration `toml:"pressure_transition_period"`
	// MaxPodGracePeriod limits the grace period of pods that a soft threshold evicts; 0 or more. Parts
	// of a second are ignored.
	MaxPodGracePeriod time.Duration `toml:"max_pod_grace_period"`
	// TenantsPayFirst evicts pods of tenants that use more than their pods request before others. Inodes
	// and process IDs cannot be requested: for them it is the tenant that uses most.
	TenantsPayFirst bool `toml:"tenants_pay_first"`
}

// Thresholds returns the thresholds of a checked configuration.
func (e *Eviction) Thresholds() []threshold.Threshold {
	all, _ := threshold.Parse(e.settings())
	return all
}

func (e *Eviction) settings() *threshold.Settings {
	return &threshold.Settings{Hard: e.Hard, Soft: e.Soft, SoftGracePeriod: e.SoftGracePeriod, MinimumReclaim: e.MinimumReclaim}
}

// complete adds the defaults of signals that Hard does not have.
func (e *Eviction) complete() {
	all := threshold.DefaultHard()
	maps.Copy(all, e.Hard)
	e.Hard = all
}

func (e *Eviction) check(report strict.Report) {
	_, faults := threshold.Parse(e.settings())
	for _, f := range faults {
		report("eviction."+f.Table+"."+strconv.Quote(f.Signal), "%s", f.Message)
	}
	positive(report, "eviction.pressure_transition_period", e.PressureTransitionPeriod)
	if e.MaxPodGracePeriod < 0 {
		report("eviction.max_pod_grace_period", "want 0s or more, found %s", e.MaxPodGracePeriod)
	}
}
