package main

import (
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

// BenchmarkChoose chooses among a few candidates.
func BenchmarkChoose(b *testing.B) {
	candidates := []sdktest.Candidate{from("http:edge"), from("file:a", "running"), from("api")}
	sdktest.Load(b, map[string]any{"order": usual}).BenchmarkMerge(b, sdktest.MergeRequest{Candidates: candidates})
}
