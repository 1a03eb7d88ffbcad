package checkpoint

import (
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// apiPod returns the pod u1 of an API server.
func apiPod() *v1.Pod {
	p := outcomePod("h")
	p.Annotations[pod.AnnotationSource] = pod.SourceAPI
	return p
}

func rejectedFor(reason string) *v1.PodStatus {
	return &v1.PodStatus{Phase: v1.PodFailed, Reason: reason, Message: "Pod was rejected: x"}
}

func TestAPodOfAnAPIServerThatWasRejectedStaysSo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := runOutcomes(t)
		p := apiPod()
		var before bool
		r.Rejected(p, rejectedFor("NodePorts"), func() { _, before, _ = r.files.on("u1") })
		if !r.Ended(p) {
			t.Error("it has not ended")
		}
		if st, ok := r.Saved(p); ok {
			t.Errorf("it was so before this agent: %+v", st)
		}
		synctest.Wait()
		if !before {
			t.Fatal("it may be shown, and is not on the disk")
		}
		next := NewOutcomes(r.files, slog.New(slog.DiscardHandler))
		if !next.Ended(p) {
			t.Error("the next agent does not know of it")
		}
		if st, ok := next.Saved(p); !ok || st.Phase != v1.PodFailed || st.Reason != "NodePorts" || st.Message != "Pod was rejected: x" {
			t.Errorf("the next agent shows %+v, %v", st, ok)
		}
		r.Forget("u1")
		if r.Ended(p) {
			t.Error("it has ended, though it is gone")
		}
	})
}

func TestADiskThatFailsKeepsNoRejectionFromBeingShown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, shown := runOutcomes(t), 0
		r.files.err = errors.New("no space left on device")
		r.Rejected(apiPod(), rejectedFor("NodePorts"), func() { shown++ })
		synctest.Wait()
		if _, onDisk, writes := r.files.on("u1"); shown != 1 || onDisk || writes != 1 {
			t.Errorf("shown %d times, on the disk %v, %d writes", shown, onDisk, writes)
		}
		r.files.mu.Lock()
		r.files.err = nil
		r.files.mu.Unlock()
		time.Sleep(outcomeRetry)
		synctest.Wait()
		if _, onDisk, _ := r.files.on("u1"); shown != 1 || !onDisk {
			t.Errorf("shown %d times, on the disk %v once it can be", shown, onDisk)
		}
	})
}
