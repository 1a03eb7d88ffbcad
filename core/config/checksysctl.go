package config

import (
	"fmt"
	"regexp"

	"k8s.io/component-helpers/node/util/sysctl"

	"github.com/wardlet/wardlet/core/strict"
)

// maxSysctl is how long the name of a sysctl may be, in bytes.
const maxSysctl = 253

var sysctlPattern = regexp.MustCompile(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]$`)

// checkSysctls wants names, or beginnings of names, of what a pod can have of its
// own.
func checkSysctls(report strict.Report, key string, patterns []string) {
	for i, pattern := range patterns {
		at := fmt.Sprintf("%s[%d]", key, i)
		if len(pattern) > maxSysctl || !sysctlPattern.MatchString(pattern) {
			report(at, `want the name of a sysctl, or its beginning and a *, for example "net.core.somaxconn" or "kernel.msg*", found %.80q`, pattern)
		} else if of, _, _ := sysctl.GetNamespace(pattern); of == sysctl.UnknownNamespace {
			report(at, "%q belongs to the whole node: pods have only network sysctls (net.*) and some of IPC (kernel.shm*, kernel.msg*, kernel.sem, fs.mqueue.*) of their own", pattern)
		}
	}
}
