package main

import (
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

// BenchmarkJudge judges connections to pods of two namespaces.
func BenchmarkJudge(b *testing.B) {
	for name, namespace := range map[string]string{"allowed": "dev-7", "denied": "shop"} {
		b.Run(name, func(b *testing.B) {
			sdktest.Load(b, usual).BenchmarkConnect(b, requested(namespace, sdktest.Connection{User: "alice"}))
		})
	}
}
