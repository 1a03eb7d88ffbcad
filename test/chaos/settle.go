package main

import (
	"context"
	"fmt"
	"time"
)

// polling is the time between two comparisons.
const polling = 250 * time.Millisecond

// settled is the result of a wait without disturbances.
type settled struct {
	// begun is how many pods were not as they should be at the beginning.
	begun int
	// last are the differences at the end.
	last []finding
	// good is since when everything has been as it should; zero if it was not at the end.
	good time.Time
}

// settle watches for as long as it may take until everything is as it should, and adds what is not
// to the findings. It then waits further, to find out whether the rest comes late or never.
func (r *run) settle(ctx context.Context) error {
	quiet, most := time.Now(), r.patient(r.form.settle)
	s, err := r.watch(ctx, quiet.Add(most))
	if err != nil {
		return err
	}
	if len(s.last) == 0 {
		took := s.good.Sub(quiet)
		r.settledAfter = append(r.settledAfter, took)
		r.timeline.add("all was as it should %.1f s after quiet, when %d pods were not, and stayed so; it may take %.1f s",
			took.Seconds(), s.begun, most.Seconds())
		return nil
	}
	still, err := r.until(ctx, r.patient(lateness))
	if err != nil {
		return err
	}
	for i := range s.last {
		s.last[i].text = fmt.Sprintf("%.1f s after quiet: %s", most.Seconds(), s.last[i].text)
	}
	r.findings.add(s.last...)
	if len(still) == 0 {
		r.timeline.add("all was as it should only %.1f s after quiet", time.Since(quiet).Seconds())
		return nil
	}
	for i := range still {
		still[i].text = fmt.Sprintf("still %.0f s after quiet: %s", time.Since(quiet).Seconds(), still[i].text)
	}
	r.findings.add(still...)
	return nil
}

// watch compares until end, or until everything has been as it should for the time form.settle.
func (r *run) watch(ctx context.Context, end time.Time) (settled, error) {
	var s settled
	for first := true; ; first = false {
		at := time.Now()
		differences, err := r.compare(ctx)
		if err != nil {
			return s, err
		}
		if first {
			s.begun = different(differences, len(r.ledger.order))
		}
		switch {
		case len(differences) > 0:
			s.good = time.Time{}
		case s.good.IsZero():
			s.good = at
		}
		s.last = differences
		if now := time.Now(); !now.Before(end) || !s.good.IsZero() && now.Sub(s.good) >= r.form.settle {
			return s, nil
		}
		if err := pause(ctx, min(polling, time.Until(end))); err != nil {
			return s, err
		}
	}
}

// different returns how many pods the differences are about. A difference without a pod, such as an
// agent that does not answer, counts for all pods.
func different(differences []finding, all int) int {
	about := map[string]bool{}
	for _, f := range differences {
		if f.pod == "" {
			return all
		}
		about[f.pod] = true
	}
	return len(about)
}
