package abi

import (
	"testing"

	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
)

func BenchmarkProjection(b *testing.B) {
	for name, paths := range map[string][]string{
		"images": {"object.spec.@containers[*].image"},
		"many": {
			"object.metadata.namespace", "object.metadata.labels", "object.metadata.labels['app.kubernetes.io/name']",
			"object.spec.@containers[*].image", "object.spec.@containers[*].name", "object.spec.@containers[*].securityContext.privileged",
			"object.spec.hostNetwork", "object.spec.@containers[*].ports[*].hostPort", "request.operation", "request.source",
		},
		"typical": {
			"object.metadata.labels", "object.spec.@containers[*].image", "object.spec.@containers[*].name",
			"object.spec.@containers[*].securityContext.privileged",
		},
		"quantities": {"object.spec.@containers[*].resources.limits['memory']", "object.spec.@containers[*].resources.requests['cpu']"},
		"json":       {"object.spec"},
	} {
		b.Run(name, func(b *testing.B) {
			p, q := declared(b, paths...), put(requestFor(abitest.UsualPod()))
			var r Record
			b.ReportAllocs()
			for b.Loop() {
				p.Write(&r, q, MaxRecord)
			}
			b.ReportMetric(float64(len(r.Out)), "bytes")
		})
	}
}
