package main

import (
	"context"
	"fmt"
	"time"

	"github.com/wardlet/wardlet/test/bench/latency"
)

// manifests is how many are written in each way; of so many the 99th
// percentile is the fourth from the end.
const manifests = 400

// measureManifests gives the time from a manifest being written to its update
// being delivered, in nanoseconds.
func measureManifests(_ context.Context, r *run) ([]figure, error) {
	var figures []figure
	for _, way := range []struct {
		name  string
		how   latency.How
		limit time.Duration
	}{
		{"manifest-rename", latency.ByRename, 50 * time.Millisecond},
		{"manifest-in-place", latency.InPlace, 200 * time.Millisecond},
	} {
		fmt.Fprintf(r.progress, "manifests: %s, %d of them\n", way.name, manifests)
		durations, err := latency.Measure(manifests, way.how)
		if err != nil {
			return nil, err
		}
		figures = append(figures,
			plain(way.name+"-p50", float64(latency.Percentile(durations, 50)), "ns"),
			plain(way.name+"-p99", float64(latency.Percentile(durations, 99)), "ns").limited(atMost, float64(way.limit)))
	}
	return figures, nil
}
