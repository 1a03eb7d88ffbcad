package reload

import (
	"log/slog"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/policy"
)

// Live has the settings that can change while the agent runs. Its functions cannot fail and do not
// block.
type Live struct {
	Level *slog.LevelVar
	// RequestTimeout and SyncFrequency require positive durations.
	RequestTimeout, SyncFrequency func(time.Duration)
	StopDenied                    func(bool)
	Terms                         func(policy.Terms)
}

// Appliers returns the functions that apply the keys of config.LiveKeys. They are called from one
// goroutine with the new configuration in force, so that keys that change together take effect
// together.
func (l *Live) Appliers() map[string]func(*config.Config) {
	terms := func(c *config.Config) { l.Terms(policyTerms(c)) }
	return map[string]func(*config.Config){
		"log_level": func(c *config.Config) { _ = l.Level.UnmarshalText([]byte(c.LogLevel)) }, // config.Load has checked it

		"runtime.request_timeout":    func(c *config.Config) { l.RequestTimeout(c.Runtime.RequestTimeout) },
		"sync.frequency":             func(c *config.Config) { l.SyncFrequency(c.Sync.Frequency) },
		"sync.on_denied_replacement": func(c *config.Config) { l.StopDenied(StopsDenied(c)) },

		"policy.default_verdict":   terms,
		"policy.exempt":            terms,
		"policy.max_suppress":      terms,
		"policy.deny_pacing":       terms,
		"tenant[].max_suppress":    terms,
		"tenant[].fuel_per_second": terms,
	}
}

// StopsDenied reports whether a pod terminates if its replacement is denied or held.
func StopsDenied(c *config.Config) bool { return c.Sync.OnDeniedReplacement == config.DeniedStop }

// policyTerms returns the terms of the policy plane from a configuration.
func policyTerms(c *config.Config) policy.Terms {
	t := policy.Terms{
		MaxSuppress: c.Policy.MaxSuppress, Exempt: c.Policy.Exempt, DefaultVerdict: api.Answer(c.Policy.DefaultVerdict),
		DenyAtOnce: !c.Policy.DenyPacing, Tenants: map[string]policy.TenantTerms{},
	}
	for i := range c.Tenants {
		one := &c.Tenants[i]
		t.Tenants[one.Name] = policy.TenantTerms{MaxSuppress: one.MaxSuppress, FuelPerSecond: one.FuelPerSecond}
	}
	return t
}
