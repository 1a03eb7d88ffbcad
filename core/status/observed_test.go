package status

import (
	"errors"
	"fmt"
	"testing"
)

func TestObservedPod(t *testing.T) {
	t.Parallel()
	p := observed(instance("a", 1, StateExited, 0), instance("b", 0, StateRunning, 0), instance("a", 0, StateExited, 0))
	p.Sandboxes[0].Annotations = map[string]string{"kubernetes.io/config.source": "file"}
	if !p.Running() || !p.Active() || p.Source() != "file" {
		t.Errorf("running %v, active %v, source %q", p.Running(), p.Active(), p.Source())
	}
	if a := p.Newest("a"); a == nil || a.ID != "a-1" {
		t.Errorf("newest a = %+v", a)
	}
	if c := p.Newest("c"); c != nil {
		t.Errorf("newest of a name that is not there = %+v", c)
	}
	p.Containers = p.Containers[:1]
	if p.Running() || !p.Active() {
		t.Error("a ready sandbox alone is active, not running")
	}
	p.Sandboxes[0].Ready = false
	if p.Active() {
		t.Error("nothing of it is up, and it is active")
	}
	if p = (ObservedPod{}); p.Source() != "" {
		t.Errorf("without a sandbox the source is %q", p.Source())
	}
}

func TestReasonOf(t *testing.T) {
	t.Parallel()
	detail := errors.New("no such image")
	fault := &Fault{Reason: "ErrImagePull", Err: detail}
	wrapped := fmt.Errorf("starting container a: %w", fault)
	if got := ReasonOf(wrapped, "RunContainerError"); got != (Reason{"ErrImagePull", "no such image"}) {
		t.Errorf("of a fault: %+v", got)
	}
	if got := ReasonOf(detail, "RunContainerError"); got != (Reason{"RunContainerError", "no such image"}) {
		t.Errorf("of another error: %+v", got)
	}
	if fault.Error() != "ErrImagePull: no such image" || !errors.Is(wrapped, detail) {
		t.Errorf("a fault reads %q", fault)
	}
}
