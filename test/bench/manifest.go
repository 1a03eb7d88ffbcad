package main

import (
	"context"
	"time"

	"github.com/wardlet/wardlet/test/bench/latency"
)

// manifests is how many are written in each way: the 99th percentile is then the fourth from the
// end.
const manifests = 400

// measureManifests measures the time from the write of a manifest until its update is delivered, in
// nanoseconds.
func measureManifests(ctx context.Context, _ *run, report report) error {
	var figures []figure
	ways := []struct {
		name  string
		how   latency.How
		limit time.Duration
	}{
		{"manifest-rename", latency.ByRename, 50 * time.Millisecond},
		{"manifest-in-place", latency.InPlace, 200 * time.Millisecond},
	}
	for i, way := range ways {
		durations, err := latency.Measure(ctx, manifests, way.how)
		if err != nil {
			return err
		}
		figures = append(figures,
			plain(way.name+"-p50", float64(latency.Percentile(durations, 50)), "ns"),
			plain(way.name+"-p99", float64(latency.Percentile(durations, 99)), "ns").limited(atMost, float64(way.limit)))
		if err := report(float64(i+1)/float64(len(ways)), figures); err != nil {
			return err
		}
	}
	return nil
}
