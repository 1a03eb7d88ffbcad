package pleg

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/status"
)

func TestDiffOfOneContainer(t *testing.T) {
	t.Parallel()
	const (
		none    = ""
		running = status.StateRunning
		exited  = status.StateExited
		created = status.StateCreated
		unknown = status.StateUnknown
	)
	tests := []struct {
		before, after status.ContainerState
		want          []EventType
	}{
		{none, none, nil},
		{none, running, []EventType{ContainerStarted}},
		{none, exited, []EventType{ContainerDied}},
		{none, unknown, []EventType{containerChanged}},
		{none, created, []EventType{containerChanged}},
		{running, none, []EventType{ContainerDied, ContainerRemoved}},
		{running, running, nil},
		{running, exited, []EventType{ContainerDied}},
		{running, unknown, []EventType{containerChanged}},
		{exited, none, []EventType{ContainerRemoved}},
		{exited, running, []EventType{ContainerStarted}},
		{exited, exited, nil},
		{exited, unknown, []EventType{containerChanged}},
		{unknown, none, []EventType{ContainerDied, ContainerRemoved}},
		{unknown, running, []EventType{ContainerStarted}},
		{unknown, exited, []EventType{ContainerDied}},
		{unknown, created, nil},
		{created, running, []EventType{ContainerStarted}},
		{created, none, []EventType{ContainerDied, ContainerRemoved}},
	}
	statesIn := func(s status.ContainerState) states {
		p := &status.ObservedPod{}
		if s != none {
			p.Containers = []status.ObservedContainer{{ID: "c", State: s}}
		}
		return statesOf(p)
	}
	for _, tt := range tests {
		t.Run("from "+string(tt.before)+" to "+string(tt.after), func(t *testing.T) {
			t.Parallel()
			var want []Event
			for _, kind := range tt.want {
				want = append(want, Event{UID: "u", Type: kind, ContainerID: "c"})
			}
			if d := cmp.Diff(want, diff("u", statesIn(tt.before), statesIn(tt.after))); d != "" {
				t.Errorf("events (-want +got):\n%s", d)
			}
		})
	}
}

func TestDiffTakesTheUnionAndCountsSandboxes(t *testing.T) {
	t.Parallel()
	before := newPod("u", "sandbox:s1=running", "sandbox:s2=exited", "a=running", "b=exited")
	after := newPod("u", "sandbox:s1=exited", "sandbox:s3=running", "b=exited", "c=running")
	want := []Event{
		{"u", ContainerDied, "a"},
		{"u", ContainerRemoved, "a"},
		{"u", ContainerDied, "s1"},
		{"u", ContainerRemoved, "s2"},
		{"u", ContainerStarted, "c"},
		{"u", ContainerStarted, "s3"},
	}
	if d := cmp.Diff(want, diff("u", statesOf(&before), statesOf(&after))); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
}
