package config

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/wardlet/wardlet/core/strict"
)

// The bounds of policy.module_bytes and policy.code_bytes. A plugin in C has
// some 20 KiB; one in Go has 2 MiB, two thirds of it code. What counts fuel
// makes code longer: of a longer module the compiler could get more than it
// takes.
const (
	minModuleBytes = 64 << 10
	maxModuleBytes = 6 << 20
)

func (p *Policy) check(report strict.Report) {
	oneOf(report, "policy.default_verdict", p.DefaultVerdict, nil, VerdictAllow, VerdictHold, VerdictDeny)
	for i, name := range p.Exempt {
		namespace, called, ok := strings.Cut(name, "/")
		if !ok || len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(called)) > 0 {
			report(fmt.Sprintf("policy.exempt[%d]", i), `want NAMESPACE/NAME of a pod, for example "kube-system/dns", found %.80q`, name)
		}
	}
	size := func(key string, n int) (fits bool) {
		if n < minModuleBytes || n > maxModuleBytes {
			report(key, "want %d to %d bytes, found %d", minModuleBytes, maxModuleBytes, n)
			return false
		}
		return true
	}
	module, code := size("policy.module_bytes", p.ModuleBytes), size("policy.code_bytes", p.CodeBytes)
	if module && code && p.CodeBytes > p.ModuleBytes {
		report("policy.code_bytes", "want at most policy.module_bytes, of which the code is a part: %d bytes, found %d", p.ModuleBytes, p.CodeBytes)
	}
}
