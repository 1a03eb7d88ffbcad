package backoff

import (
	"math"
	"testing"
	"time"
)

func TestExponential_Delay(t *testing.T) {
	t.Parallel()
	e := Exponential{10 * time.Second, 5 * time.Minute}
	for failures, want := range map[int]time.Duration{
		-1: 10 * time.Second, 0: 10 * time.Second, 1: 20 * time.Second, 4: 160 * time.Second,
		5: 5 * time.Minute, 6: 5 * time.Minute, math.MaxInt: 5 * time.Minute,
	} {
		if got := e.Delay(failures); got != want {
			t.Errorf("Delay(%d) is %s, want %s", failures, got, want)
		}
	}
	longest := Exponential{time.Second, math.MaxInt64}
	if got := longest.Delay(math.MaxInt); got != math.MaxInt64 {
		t.Errorf("the delay overflows to %s", got)
	}
	if got := (Exponential{time.Minute, time.Second}).Delay(0); got != time.Second {
		t.Errorf("the delay is %s, above its maximum", got)
	}
}

func TestExponential_Next(t *testing.T) {
	t.Parallel()
	e := Exponential{time.Second, 20 * time.Second}
	var got []time.Duration
	for delay := e.Next(0); len(got) < 7; delay = e.Next(delay) {
		got = append(got, delay/time.Second)
	}
	want := []time.Duration{1, 2, 4, 8, 16, 20, 20}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("delays are %d s, want %d s", got, want)
		}
	}
}
