package mux

import (
	"testing"
	"time"
)

func TestLines_manyAreOne(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	var l logLimit
	count := func(n int) (told, last int) {
		for range n {
			ok, first := l.take(now)
			if ok {
				told++
			}
			if first {
				last++
			}
		}
		return told, last
	}
	for _, step := range []struct {
		after      time.Duration
		told, last int
	}{
		{0, lineBurst, 1},
		{time.Second, 0, 0},
		{48 * time.Second, 0, 0},
		{2 * time.Second, lineBurst/2 + 1, 1},
		{time.Hour, lineBurst, 1},
		{-time.Hour, 0, 0},
	} {
		now = now.Add(step.after)
		if told, last := count(100_000); told != step.told || last != step.last {
			t.Errorf("after %s more: %d lines and %d that others are left out, want %d and %d", step.after, told, last, step.told, step.last)
		}
	}
}
