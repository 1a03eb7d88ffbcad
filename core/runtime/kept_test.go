package runtime

import (
	"context"
	"errors"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	wardlet "github.com/wardlet/wardlet/core/status"
	"github.com/wardlet/wardlet/test/fakecri"
)

func TestAContainerThatTheRuntimeDoesNotLetGoOf(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		program fakecri.Program
		hinder  func(r *rig, id string)
		kept    bool
	}{
		"an ended one that it takes for running is kept": {
			hinder: func(r *rig, id string) { r.cri.Keep(id) }, kept: true,
		},
		"one that runs is only not removed yet": {
			hinder: func(r *rig, _ string) {
				r.cri.Fail("RemoveContainer", status.Error(codes.FailedPrecondition, "it runs"))
			},
		},
		"any other refusal is only an error": {
			program: fakecri.Program{Exits: true},
			hinder:  func(r *rig, _ string) { r.cri.Fail("RemoveContainer", status.Error(codes.Unknown, "busy")) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			p := newPod("web")
			id := r.start(t, p, tc.program)
			tc.hinder(r, id)
			err := r.RemoveContainer(t.Context(), p.UID, id)
			if err == nil || errors.Is(err, wardlet.ErrKept) != tc.kept {
				t.Errorf("error %v; kept must be %t", err, tc.kept)
			}
		})
	}
}

func TestAContainerThatTheRuntimeKeptGoesAfterItsRestart(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := newPod("web")
	id := r.start(t, p, fakecri.Program{})
	r.cri.Keep(id)
	expectError(t, r.RemoveContainer(t.Context(), p.UID, id), "remove container "+id, "restart the runtime", "cannot delete running task")
	r.cri.Stop()
	expectError(t, r.RemoveContainer(t.Context(), p.UID, id), "does not answer")
	if err := r.cri.Serve(); err != nil {
		t.Fatal(err)
	}
	var err error
	for range 50 { // until the client has found it again
		if err = r.RemoveContainer(t.Context(), p.UID, id); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil {
		t.Error(err)
	}
	mustEqual(t, "container", "", r.cri.Newest("web", "app"))
}

// A runtime that is left alone in the middle of a start may keep the container.
func TestAStartThatHasBegunIsLetFinishAlsoWhereItIsNotWantedAnyMore(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cri.Load(appImage, 1, fakecri.Program{})
	p := newPod("web")
	sandbox := r.runSandbox(t, p)
	ctx, cancel := context.WithCancel(t.Context())
	r.cri.Before("StartContainer", func(asked context.Context, _ any) error {
		cancel()
		select {
		case <-asked.Done():
			return asked.Err()
		case <-time.After(200 * time.Millisecond):
			return nil
		}
	})
	id, err := r.StartContainer(ctx, containerRun(p, sandbox, 0))
	if err != nil {
		t.Fatal(err)
	}
	observed, err := r.InspectPod(t.Context(), p.UID)
	if err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "container", id, observed.Containers[0].ID)
	mustEqual(t, "state", wardlet.StateRunning, observed.Containers[0].State)
}
