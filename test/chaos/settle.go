package main

import (
	"context"
	"fmt"
	"time"
)

// polling is the time between two comparisons.
const polling = 250 * time.Millisecond

// settled is how a time in the quiet went.
type settled struct {
	// begun is how many pods were not as they should be at quiet.
	begun int
	// last are the differences at the end.
	last []finding
	// good is when all was as it should that was so until the end; zero where it was not at the end.
	good time.Time
}

// settle waits for as long as it may take until all is as it should, and looks whether it is and since when. What is not is
// waited for, to tell whether it comes late or never.
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

// watch compares until the time has come, or all has been as it should for as long as it may take on a fast machine.
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

// different is how many pods differences are about: all where one is about none, as that the agent does not answer.
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
