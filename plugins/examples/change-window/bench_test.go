package main

import (
	"testing"
	"time"

	"github.com/wardlet/wardlet/plugins/sdk/request"
	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

// BenchmarkJudge judges changes inside and outside of a window.
func BenchmarkJudge(b *testing.B) {
	for name, when := range map[string]time.Time{"passed": at(1, 21, 0), "deferred": noon} {
		b.Run(name, func(b *testing.B) {
			sdktest.Load(b, usual(nil)).BenchmarkFilter(b, change(when, request.Images))
		})
	}
}
