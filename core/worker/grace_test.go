package worker

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
)

func TestEffectiveGrace(t *testing.T) {
	t.Parallel()
	withGrace := func(spec, deletion *int64) *v1.Pod {
		p := newPod("a", "1")
		p.Spec.TerminationGracePeriodSeconds, p.DeletionGracePeriodSeconds = spec, deletion
		return p
	}
	for name, tc := range map[string]struct {
		current  int64
		pod      *v1.Pod
		override *int64
		want     int64
	}{
		"the spec's period is the default":             {pod: withGrace(new(int64(30)), nil), want: 30},
		"the deletion's period goes before the spec's": {pod: withGrace(new(int64(30)), new(int64(5))), want: 5},
		"a deletion may ask for longer than the spec":  {pod: withGrace(new(int64(30)), new(int64(60))), want: 60},
		"an override shortens the deletion's period":   {pod: withGrace(nil, new(int64(50))), override: new(int64(4)), want: 4},
		"an override does not lengthen":                {pod: withGrace(nil, new(int64(5))), override: new(int64(40)), want: 5},
		"what is in force never becomes longer":        {current: 3, pod: withGrace(new(int64(30)), new(int64(20))), override: new(int64(10)), want: 3},
		"what is in force may become shorter":          {current: 30, pod: withGrace(new(int64(30)), nil), override: new(int64(2)), want: 2},
		"zero means one second":                        {pod: withGrace(new(int64(30)), new(int64(0))), want: 1},
		"an override of zero means one second":         {pod: withGrace(new(int64(30)), nil), override: new(int64(0)), want: 1},
		"no period at all means one second":            {pod: withGrace(nil, nil), want: 1},
		"a pod only the runtime knows gets one second": {want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := effectiveGrace(tc.current, tc.pod, tc.override); got != tc.want {
				t.Errorf("effectiveGrace = %d, want %d", got, tc.want)
			}
		})
	}
}

func TestRestartGrace(t *testing.T) {
	t.Parallel()
	p := newPod("a", "1")
	if got := restartGrace(p); got != 30*time.Second {
		t.Errorf("with a period in the spec: %s, want 30s", got)
	}
	p.DeletionGracePeriodSeconds = new(int64(7))
	if got := restartGrace(p); got != 7*time.Second {
		t.Errorf("with a period of the deletion: %s, want 7s", got)
	}
	if got := restartGrace(&v1.Pod{}); got != 2*time.Second {
		t.Errorf("without any period: %s, want 2s", got)
	}
}

func TestAPeriodThatIsLongerThanCanBeCountedIsLong(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{9_223_372_036, 9_223_372_037, 18_446_744_073, 1 << 62, 1<<63 - 1} {
		if d := seconds(n); d < 24*365*time.Hour || d+time.Hour < d || d+d/2 < d {
			t.Errorf("%d seconds are %s", n, d)
		}
		p := newPod("a", "1")
		p.Spec.TerminationGracePeriodSeconds = &n
		if d := restartGrace(p); d != seconds(n) {
			t.Errorf("a container gets %s of %d seconds", d, n)
		}
	}
	for n, want := range map[int64]time.Duration{-1: 0, 0: 0, 1: time.Second, 86_400: 24 * time.Hour} {
		if d := seconds(n); d != want {
			t.Errorf("%d seconds are %s", n, d)
		}
	}
}
