package worker

import (
	"testing"
	"testing/synctest"
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

func TestAShorterGraceCancelsTheLongerOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := newPod("web", "1", "a")
		b.create(p)
		synctest.Wait()
		b.taken()
		held := make(chan struct{})
		b.hold["stop c2"] = held
		b.kill(p)
		expectCalls(t, b, "stop c2 30s")
		b.pool.Submit(Request{Kind: Kill, Pod: p, Kill: &KillOptions{Grace: new(int64(60))}})
		synctest.Wait()
		for _, call := range b.taken() { // tried again, with no longer grace period
			if call != "stop c2 30s" {
				t.Errorf("a longer grace gave %q", call)
			}
		}
		b.pool.Submit(Request{Kind: Kill, Pod: p, Kill: &KillOptions{Grace: new(int64(5))}})
		expectCalls(t, b, "stop c2 5s")
		close(held)
		expectCalls(t, b, "stop-sandbox s1", "teardown 1", "remove-cgroup 1")
	})
}

func TestKillOptions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := fromAPI(newPod("web", "1", "a"))
		b.create(p)
		synctest.Wait()
		first, second, late := make(chan struct{}), make(chan struct{}), make(chan struct{})
		held := make(chan struct{})
		b.hold["stop c2"] = held
		evict := func(st *v1.PodStatus) { st.Phase, st.Reason = v1.PodFailed, "Evicted" }
		b.pool.Submit(Request{Kind: Kill, Pod: p, Kill: &KillOptions{Done: first, Evict: true, Status: evict}})
		b.pool.Submit(Request{Kind: Kill, Pod: p, Kill: &KillOptions{Done: second}})
		synctest.Wait()
		if st, _ := b.store.Get("1"); st.Reason != "Evicted" {
			t.Errorf("reason while stopping = %q, want Evicted", st.Reason)
		}
		select {
		case <-first:
			t.Error("done before the container has stopped")
		default:
		}
		close(held)
		<-first
		<-second
		synctest.Wait()
		b.pool.Submit(Request{Kind: Kill, Pod: p, Kill: &KillOptions{Done: late}})
		<-late
		if st, _ := b.store.Get("1"); st.Phase != v1.PodFailed || st.Reason != "Evicted" {
			t.Errorf("status = %s, %q; want Failed, Evicted", st.Phase, st.Reason)
		}
		if !b.pool.ContentRemovable("1") {
			t.Error("the content of an evicted pod may not go")
		}
	})
}

func TestKillOptionsOfAPodThatDoesNotEndAreAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		done := make(chan struct{})
		b.pool.Submit(Request{Kind: Update, Pod: newPod("web", "1", "a"), Kill: &KillOptions{Done: done}})
		<-done
		synctest.Wait()
		if got := b.state("1"); got != Syncing {
			t.Errorf("state = %s, want sync", got)
		}
	})
}
