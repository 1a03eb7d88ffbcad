package main

import (
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

// BenchmarkJudge judges a pod that names two objects.
func BenchmarkJudge(b *testing.B) {
	sdktest.Load(b, map[string]any{"pins": pins}, sdktest.ReferencesRead).BenchmarkAdmit(b, naming("shop", app, tls))
}
