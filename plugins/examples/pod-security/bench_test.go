package main

import (
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

// BenchmarkJudge judges pods with an init container and three containers by the
// restricted profile, which has most checks.
func BenchmarkJudge(b *testing.B) {
	for name, changes := range map[string][]change{
		"allowed": nil,
		"denied":  {set("spec.hostNetwork", true), set("spec.containers.0.securityContext.privileged", true), drop("spec.securityContext.runAsNonRoot")},
	} {
		b.Run(name, func(b *testing.B) {
			p := pod(changes...)
			spec := p["spec"].(map[string]any)
			spec["containers"] = append(spec["containers"].([]any), container("log"), container("cache"))
			sdktest.Load(b, usual).BenchmarkAdmit(b, sdktest.Request{Pod: p})
		})
	}
}
