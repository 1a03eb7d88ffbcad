package config

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/wardlet/wardlet/core/strict"
)

// MaxModuleBytes is the most that policy.module_bytes and policy.code_bytes may be.
const MaxModuleBytes = 6 << 20

// minModuleBytes is the least. A plugin in C has
// some 20 KiB; one in Go has 2 MiB, two thirds of it code. What counts fuel
// makes code longer: of a longer module the compiler could get more than it
// takes.
const minModuleBytes = 64 << 10

// The bounds of record_bytes, in bytes: some hundred records, and more than a node
// makes in its life.
const (
	minRecordBytes = 1 << 20
	maxRecordBytes = 16 << 30
)

func checkRecordBytes(report strict.Report, key string, n int64) {
	if n < minRecordBytes || n > maxRecordBytes {
		report(key, "want %d to %d bytes, found %d", minRecordBytes, int64(maxRecordBytes), n)
	}
}

func (p *Policy) check(report strict.Report) {
	oneOf(report, "policy.default_verdict", p.DefaultVerdict, nil, VerdictAllow, VerdictHold, VerdictDeny)
	positive(report, "policy.max_suppress", p.MaxSuppress)
	checkRecordBytes(report, "policy.record_bytes", p.RecordBytes)
	checkSigning(report, "policy", p.TrustedKeys, p.RequireSignature)
	for i, name := range p.Exempt {
		if !isPodName(name) {
			report(fmt.Sprintf("policy.exempt[%d]", i), `want NAMESPACE/NAME of a pod, for example "kube-system/dns", found %.80q`, name)
		}
	}
	size := func(key string, n int) (fits bool) {
		if n < minModuleBytes || n > MaxModuleBytes {
			report(key, "want %d to %d bytes, found %d", minModuleBytes, MaxModuleBytes, n)
			return false
		}
		return true
	}
	module, code := size("policy.module_bytes", p.ModuleBytes), size("policy.code_bytes", p.CodeBytes)
	if module && code && p.CodeBytes > p.ModuleBytes {
		report("policy.code_bytes", "want at most policy.module_bytes, of which the code is a part: %d bytes, found %d", p.ModuleBytes, p.CodeBytes)
	}
}

// HasPolicies says that the operator or a tenant has a directory of policies.
func (c *Config) HasPolicies() bool {
	return c.Policy.Dir != "" || slices.ContainsFunc(c.Tenants, func(t Tenant) bool { return t.PolicyDir != "" })
}

// checkDefaultVerdict wants policies for a verdict that keeps pods out: who sets it
// would take them for judged, and they would all be admitted.
func (c *Config) checkDefaultVerdict(report strict.Report) {
	verdict := c.Policy.DefaultVerdict
	if verdict != VerdictDeny && verdict != VerdictHold || c.HasPolicies() {
		return
	}
	report("policy.default_verdict", "%q counts only where there are policies, and without a directory of them every pod is admitted: "+
		"name one as policy.dir, or as policy_dir of a tenant", verdict)
}

// publicKey is the form of a public key of minisign: 42 bytes in base64 that
// begin with "Ed".
var publicKey = regexp.MustCompile(`^RW[A-Za-z0-9+/]{54}$`)

// checkSigning checks who may sign the policies of a table's directory.
func checkSigning(report strict.Report, table string, keys []string, required bool) {
	for i, key := range keys {
		if !publicKey.MatchString(key) {
			report(fmt.Sprintf("%s.trusted_keys[%d]", table, i), `want the line of a public key of minisign, which begins with "RW", found %.80q`, key)
		}
	}
	if required && len(keys) == 0 {
		report(table+".require_signature", "no signature can be good without trusted_keys; name the public keys that may sign the policies")
	}
}
