package config

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/wardlet/wardlet/core/strict"
)

// Tenant is a user of the node. Its sources may use only some namespaces, and its policies judge
// the pods in these.
type Tenant struct {
	// Name is a DNS label, unique among the tenants.
	Name string `toml:"name"`
	// Namespaces are names or patterns, in which "*" matches any run of characters. There is at least
	// one. No namespace may match the patterns of two tenants, so that objects of two tenants never
	// conflict.
	Namespaces []string `toml:"namespaces"`
	// PolicyDir is the directory of the tenant's own policies, absolute; empty for none. They judge
	// the tenant's pods before the policies of Policy.Dir, and can only restrict further.
	PolicyDir string `toml:"policy_dir"`
	// TrustedKeys are public keys of minisign that verify the signature of the policies.
	// RequireSignature refuses unsigned policies. No file in the directory can change either.
	TrustedKeys      []string `toml:"trusted_keys"`
	RequireSignature bool     `toml:"require_signature"`
	// MaxSuppress limits the time for which these policies may hold an update back; positive.
	MaxSuppress time.Duration `toml:"max_suppress"`
	// MaxPriority is the highest priority of the tenant's pods, of 32 bits.
	MaxPriority int64 `toml:"max_priority"`
	// FuelPerSecond limits the cost of decisions about the tenant's pods, including their records, for
	// the policies of any owner. 500 million is about a quarter of a processor's time, or 500 kB of
	// records.
	FuelPerSecond int64 `toml:"fuel_per_second"`
	// CompilePerHour limits the processor time for compiling the tenant's plugins in an hour.
	// LogBytesPerSecond limits the log of all owners' plugins about the tenant's pods.
	CompilePerHour    time.Duration `toml:"compile_per_hour"`
	LogBytesPerSecond int           `toml:"log_bytes_per_second"`
	// PolicyMemory limits the total memory, in bytes, of one instance of each of the tenant's plugins.
	PolicyMemory int64 `toml:"policy_memory"`
	// RecordBytes limits the disk space for records of decisions about the tenant's pods, including
	// the data needed to repeat the policies.
	RecordBytes int64 `toml:"record_bytes"`
}

// The limits of tenant.fuel_per_second: about a thousandth of a processor's time, and far more than
// one processor has.
const (
	minFuelPerSecond = 1_000_000
	maxFuelPerSecond = 1_000_000_000_000
)

// SetDefaults implements strict.Defaulter.
func (t *Tenant) SetDefaults() {
	t.MaxSuppress, t.FuelPerSecond, t.RecordBytes = 5*time.Minute, 500_000_000, 8<<20
	t.MaxPriority = 1_000_000_000 // higher priorities belong to the system's classes
	t.CompilePerHour, t.LogBytesPerSecond, t.PolicyMemory = 2*time.Minute, 4<<10, 64<<20
}

// OperatorName is reserved for the owner of the node; no tenant can have this name.
const OperatorName = "operator"

// Namespaces returns the names and patterns of the namespaces for the documents of s, nil for all.
func (c *Config) Namespaces(s *Source) []string {
	if t := c.tenant(s.Tenant); t != nil {
		return t.Namespaces
	}
	return nil
}

// tenant returns the tenant with that name, nil if there is none.
func (c *Config) tenant(name string) *Tenant {
	for i := range c.Tenants {
		if name != "" && c.Tenants[i].Name == name {
			return &c.Tenants[i]
		}
	}
	return nil
}

func (c *Config) checkTenants(report strict.Report) {
	names := map[string]bool{}
	for i, t := range c.Tenants {
		key := func(name string) string { return fmt.Sprintf("tenant[%d].%s", i, name) }
		switch {
		case t.Name == "":
			report(key("name"), `missing; sources name their tenant by it, for example name = "a"`)
		case names[t.Name]:
			report(key("name"), "%q is the name of another tenant; give each its own", t.Name)
		case t.Name == OperatorName:
			report(key("name"), "%q stands for who owns the node; choose another name", t.Name)
		default:
			for _, fault := range validation.IsDNS1123Label(t.Name) {
				report(key("name"), "%q is no DNS label: %s", t.Name, fault)
			}
		}
		names[t.Name] = true
		positive(report, key("max_suppress"), t.MaxSuppress)
		if t.FuelPerSecond < minFuelPerSecond || t.FuelPerSecond > maxFuelPerSecond {
			report(key("fuel_per_second"), "want %d to %d, found %d", minFuelPerSecond, int64(maxFuelPerSecond), t.FuelPerSecond)
		}
		if t.MaxPriority < math.MinInt32 || t.MaxPriority > math.MaxInt32 {
			report(key("max_priority"), "want %d to %d, found %d", math.MinInt32, math.MaxInt32, t.MaxPriority)
		}
		checkRecordBytes(report, key("record_bytes"), t.RecordBytes)
		t.checkBudgets(report, key)
		checkSigning(report, fmt.Sprintf("tenant[%d]", i), t.TrustedKeys, t.RequireSignature)
		if len(t.Namespaces) == 0 {
			report(key("namespaces"), `missing; name those of the tenant, for example namespaces = ["tenant-a-*"]`)
		}
		for j, pattern := range t.Namespaces {
			owner, theirs := c.sharedWith(i, pattern)
			switch {
			case !namespacePattern(pattern):
				report(key("namespaces"), `want a namespace such as "web", or a pattern such as "tenant-a-*", found %.80q`, pattern)
			case slices.Contains(t.Namespaces[:j], pattern):
				report(key("namespaces"), "%q is named twice", pattern)
			case owner != "":
				report(key("namespaces"), "%q and %q of tenant %q match the same namespaces; no two tenants may share one", pattern, theirs, owner)
			}
		}
	}
}

// sharedWith returns a tenant before the i-th, and the tenant's pattern, that can match the same
// namespace as pattern; empty for none.
func (c *Config) sharedWith(i int, pattern string) (owner, theirs string) {
	for _, earlier := range c.Tenants[:i] {
		for _, theirs := range earlier.Namespaces {
			if len(pattern) <= maxPattern && len(theirs) <= maxPattern && meet(pattern, theirs) {
				return earlier.Name, theirs
			}
		}
	}
	return "", ""
}

// maxPattern is the maximum length of a pattern: a namespace has at most 63 characters.
const maxPattern = 127

// meet reports whether a name exists that both patterns match. It compares each pair of positions
// once.
func meet(a, b string) bool {
	// reached[j] means that a text exists that both the processed part of a and b[:j] match.
	reached := make([]bool, len(b)+1)
	reached[0] = true
	spread(reached, b)
	for i := range len(a) {
		next := make([]bool, len(b)+1)
		for j, ok := range reached {
			switch {
			case !ok:
			case a[i] == '*':
				// The "*" matches nothing, or any part of b.
				for k := j; k <= len(b); k++ {
					next[k] = true
				}
			case j < len(b) && b[j] == '*':
				next[j] = true
			case j < len(b) && b[j] == a[i]:
				next[j+1] = true
			}
		}
		spread(next, b)
		reached = next
	}
	return reached[len(b)]
}

// spread adds the positions after a "*" that matches nothing.
func spread(reached []bool, b string) {
	for j := range len(b) {
		if reached[j] && b[j] == '*' {
			reached[j+1] = true
		}
	}
}

// namespacePattern reports whether a pattern can match a namespace.
func namespacePattern(pattern string) bool {
	const characters = "abcdefghijklmnopqrstuvwxyz0123456789-*"
	return pattern != "" && len(pattern) <= maxPattern && strings.Trim(pattern, characters) == ""
}

// The limits of a tenant's budgets. The minimum memory is that of one plugin whose policy does not
// set it.
const (
	minCompilePerHour    = time.Second
	maxCompilePerHour    = time.Hour
	minLogBytesPerSecond = 64
	maxLogBytesPerSecond = 16 << 20
	minPolicyMemory      = 4 << 20
	maxPolicyMemory      = 1 << 40
)

// checkBudgets reports budgets beyond these limits.
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
