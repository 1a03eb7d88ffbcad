package main

import (
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

// BenchmarkJudge judges pods with some labels.
func BenchmarkJudge(b *testing.B) {
	for name, stage := range map[string]string{"allowed": "test-7", "denied": "production"} {
		b.Run(name, func(b *testing.B) {
			labels := map[string]string{"team": "shop", "example.org/stage": stage, "tier": "front-end", "app.kubernetes.io/name": "web"}
			sdktest.Load(b, usual).BenchmarkAdmit(b, labelled(labels))
		})
	}
}
