package runtime

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/runtime/criconfig"
	"github.com/wardlet/wardlet/test/fakecri"
)

func TestNoLogNoLink(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := newPod("web")
	// The fake runtime writes a log only if the directory exists, so the directory is removed
	// before.
	r.cri.Before("StartContainer", func(context.Context, any) error { return os.RemoveAll(r.layout.LogDir(p)) })
	r.start(t, p, fakecri.Program{})
	if _, err := os.Stat(r.layout.LogLinksDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a link to a log that is not there: %v", filesBelow(t, r.layout.LogRoot))
	}
}

// If the removal of the logs fails, the container stays, so that the removal is tried again.
func TestLogsAreRemovedBeforeTheContainer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := newPod("web")
	id := r.start(t, p, fakecri.Program{Exits: true})
	log := filepath.Join(r.layout.LogDir(p), "app", "0.log")
	if err := os.Remove(log); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(log, "in the way"), "") // a directory that is not empty
	expectError(t, r.RemoveContainer(t.Context(), p.UID, id), "remove container "+id+": logs: ")
	mustEqual(t, "container", id, r.cri.Newest("web", "app"))

	if err := os.RemoveAll(log); err != nil {
		t.Fatal(err)
	}
	r.cri.FailTimes("RemoveContainer", 1, status.Error(codes.Unknown, "busy"))
	expectError(t, r.RemoveContainer(t.Context(), p.UID, id), "remove container "+id+": busy")
	if err := r.RemoveContainer(t.Context(), p.UID, id); err != nil {
		t.Errorf("when nothing is in the way: %v", err)
	}
}

func TestLinkThatAnotherContainerTookStays(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := newPod("web")
	id := r.start(t, p, fakecri.Program{Exits: true})
	link := r.logLink("web", "default", "app", id)
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/elsewhere", link); err != nil {
		t.Fatal(err)
	}
	if err := r.RemoveContainer(t.Context(), p.UID, id); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Readlink(link); err != nil {
		t.Error(err)
	}
}

func TestLinkLog_cutNameLeadsToTheNewestLog(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := newPod(strings.Repeat("a", 200))
	p.UID = "u"
	for attempt := range uint32(2) {
		log := filepath.Join(r.layout.LogDir(p), criconfig.LogPath("app", attempt))
		if err := os.MkdirAll(filepath.Dir(log), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(log, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		id := strings.Repeat("f", 60) + filepath.Base(log) // the part that differs is cut off
		run := pod.ContainerRun{Pod: p, Container: &p.Spec.Containers[0], Attempt: attempt}
		if err := r.linkLog(&run, id); err != nil {
			t.Fatal(err)
		}
		if target, err := os.Readlink(r.logLink(p.Name, p.Namespace, "app", id)); err != nil || target != log {
			t.Errorf("the link leads to %s, %v, want %s", target, err, log)
		}
	}
}

func TestLogLinkNamesAreCut(t *testing.T) {
	t.Parallel()
	r := &Runtime{}
	long := string(make([]byte, 253))
	mustEqual(t, "length", 255, len(filepath.Base(r.logLink(long, "ns", "app", "id"))))
	mustEqual(t, "name", "web_ns_app-id.log", filepath.Base(r.logLink("web", "ns", "app", "id")))
}
