package main

import (
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

// BenchmarkJudge judges pods with an init container and three containers.
func BenchmarkJudge(b *testing.B) {
	for name, images := range map[string][]string{
		"allowed": {"registry.example/tools/init:1", "registry.example/shop/web:1.2.3", "registry.example/shop/cache:7", "registry.example/tools/log:2"},
		"denied":  {"registry.example/tools/init:1", "nginx", "evil.example/shop/cache:7", "registry.example/tools/log:2@" + sha256},
	} {
		b.Run(name, func(b *testing.B) {
			spec := map[string]any{"initContainers": containers(images[:1]...), "containers": containers(images[1:]...)}
			sdktest.Load(b, usual).BenchmarkAdmit(b, pod(spec))
		})
	}
}
