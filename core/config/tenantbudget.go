package config

import (
	"time"

	"github.com/wardlet/wardlet/core/strict"
)

// The bounds of what a tenant's budgets may be. The least memory is that of one
// plugin whose policy says nothing of it.
const (
	minCompilePerHour    = time.Second
	maxCompilePerHour    = time.Hour
	minLogBytesPerSecond = 64
	maxLogBytesPerSecond = 16 << 20
	minPolicyMemory      = 4 << 20
	maxPolicyMemory      = 1 << 40
)

// checkBudgets reports budgets that are out of bounds.
func (t *Tenant) checkBudgets(report strict.Report, key func(name string) string) {
	if t.CompilePerHour < minCompilePerHour || t.CompilePerHour > maxCompilePerHour {
		report(key("compile_per_hour"), "want %s to %s, found %s", minCompilePerHour, maxCompilePerHour, t.CompilePerHour)
	}
	if t.LogBytesPerSecond < minLogBytesPerSecond || t.LogBytesPerSecond > maxLogBytesPerSecond {
		report(key("log_bytes_per_second"), "want %d to %d, found %d", minLogBytesPerSecond, maxLogBytesPerSecond, t.LogBytesPerSecond)
	}
	if t.PolicyMemory < minPolicyMemory || t.PolicyMemory > maxPolicyMemory {
		report(key("policy_memory"), "want %d to %d bytes, found %d", minPolicyMemory, int64(maxPolicyMemory), t.PolicyMemory)
	}
}
