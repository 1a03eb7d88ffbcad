package worker

import (
	"testing"
	"testing/synctest"

	v1 "k8s.io/api/core/v1"
)

// A pod of an API server that a shutdown ends has failed for good. A static pod runs again after
// the shutdown.
func TestKill_nodeShutdown(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		of   func(*v1.Pod) *v1.Pod
		kept v1.PodPhase
	}{
		"a static pod":           {func(p *v1.Pod) *v1.Pod { return p }, ""},
		"a pod of an API server": {fromAPI, v1.PodFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				outcomes := withOutcomes(b)
				p := tc.of(newPod("web", "1", "a"))
				b.create(p)
				expectCalls(t, b, "run-sandbox web#0", "start web/a#0")
				done := make(chan struct{})
				b.pool.Submit(Request{Kind: Kill, Pod: p, Kill: &KillOptions{
					NodeShutdown: true, Grace: new(int64(4)), Done: done,
					Status: func(st *v1.PodStatus) { st.Phase, st.Reason = v1.PodFailed, "Terminated" },
				}})
				<-done
				expectCalls(t, b, "stop c2 4s", "stop-sandbox s1", "teardown 1", "remove-cgroup 1")
				if st, _ := b.store.Get("1"); st.Phase != v1.PodFailed || st.Reason != "Terminated" {
					t.Errorf("status %s, %q", st.Phase, st.Reason)
				}
				outcomes.mu.Lock()
				defer outcomes.mu.Unlock()
				if kept := outcomes.kept["1"].Phase; kept != tc.kept {
					t.Errorf("kept for the next agent: %q, want %q", kept, tc.kept)
				}
				if b.pool.ContentRemovable("1") {
					t.Error("the logs of the pod may be removed")
				}
				if !b.pool.Done("1") {
					t.Error("something of the pod is left")
				}
			})
		})
	}
}
