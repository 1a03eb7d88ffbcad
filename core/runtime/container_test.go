package runtime

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
	wardlet "github.com/wardlet/wardlet/core/status"
	"github.com/wardlet/wardlet/test/fakecri"
)

func TestStartContainerMakesItsFiles(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := newPod("web")
	id := r.start(t, p, fakecri.Program{Log: []string{"hello"}})
	mustEqual(t, "files of the pod", []string{
		"pods/uid-web/containers/app/00000000",
		"pods/uid-web/etc-hosts",
	}, filesBelow(t, r.layout.PodRoot))
	link := "containers/web_default_app-" + id + ".log"
	log := "pods/default_web_uid-web/app/0.log"
	mustEqual(t, "logs", []string{link, log}, filesBelow(t, r.layout.LogRoot))
	target, err := os.Readlink(filepath.Join(r.layout.LogRoot, link))
	if err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "link", filepath.Join(r.layout.LogRoot, log), target)
	info, err := os.Stat(filepath.Join(r.layout.ContainerDir(p.UID, "app"), "00000000"))
	if err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "mode of the termination message file", os.FileMode(0o666), info.Mode().Perm())
}

func TestNoLogNoLink(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := newPod("web")
	// The fake writes a log where its directory is; take that away in time.
	r.cri.Before("StartContainer", func(context.Context, any) error { return os.RemoveAll(r.layout.LogDir(p)) })
	r.start(t, p, fakecri.Program{})
	if _, err := os.Stat(r.layout.LogLinksDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a link to a log that is not there: %v", filesBelow(t, r.layout.LogRoot))
	}
}

func TestStartContainerFaults(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		prepare func(r *rig, p *v1.Pod)
		reason  string
		message string
		created bool
	}{
		"a configuration that cannot be made": {
			prepare: func(_ *rig, p *v1.Pod) {
				p.Spec.Containers[0].Env = []v1.EnvVar{{Name: "A", ValueFrom: &v1.EnvVarSource{}}}
			},
			reason:  "CreateContainerConfigError",
			message: `container "app": env "A": valueFrom is not supported; give it a value`,
		},
		"the runtime refuses to create": {
			prepare: func(r *rig, _ *v1.Pod) { r.cri.Fail("CreateContainer", status.Error(codes.Unknown, "no space")) },
			reason:  "CreateContainerError",
			message: "no space",
		},
		"the binary is missing": {
			prepare: func(r *rig, _ *v1.Pod) { r.cri.Load(appImage, 1, fakecri.Program{StartError: "exec: not found"}) },
			reason:  "RunContainerError",
			message: "exec: not found",
			created: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.cri.Load(appImage, 1, fakecri.Program{})
			p := newPod("web")
			sandbox := r.runSandbox(t, p)
			tc.prepare(r, p)
			id, err := r.StartContainer(t.Context(), containerRun(p, sandbox, 0))
			fault, ok := errors.AsType[*wardlet.Fault](err)
			if !ok {
				t.Fatalf("error %v, want a fault", err)
			}
			mustEqual(t, "reason", tc.reason, fault.Reason)
			mustEqual(t, "message", tc.message, fault.Err.Error())
			mustEqual(t, "ID of what was created", tc.created, id != "")
		})
	}
}

// A runtime that is away is not the container's fault: nothing is marked
// failed.
func TestStartContainerWhileTheRuntimeIsAway(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := newPod("web")
	sandbox := r.runSandbox(t, p)
	r.cri.Stop()
	_, err := r.StartContainer(t.Context(), containerRun(p, sandbox, 0))
	expectError(t, err, `start container "app": container runtime at`, "does not answer")
	if _, ok := errors.AsType[*wardlet.Fault](err); ok {
		t.Errorf("%v is a fault", err)
	}
}

func TestStopTimeout(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		grace time.Duration
		want  int64
	}{
		"two seconds at least":  {0, 2},
		"never negative":        {-time.Hour, 2},
		"the grace":             {30 * time.Second, 30},
		"parts of a second up":  {2100 * time.Millisecond, 3},
		"a grace of one second": {time.Second, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			if err := r.StopContainer(t.Context(), "unknown", tc.grace); err != nil {
				t.Errorf("stopping what is not there: %v", err)
			}
			calls := r.cri.Calls("StopContainer")
			mustEqual(t, "timeout", tc.want, calls[0].Request.(*runtimeapi.StopContainerRequest).GetTimeout())
		})
	}
}

func TestStopContainerReportsErrors(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cri.Fail("StopContainer", status.Error(codes.Unknown, "stuck"))
	expectError(t, r.StopContainer(t.Context(), "abc", 0), "stop container abc: stuck")
	r.cri.Clear("StopContainer")
	r.cri.Fail("StopContainer", status.Error(codes.NotFound, "not found"))
	if err := r.StopContainer(t.Context(), "abc", 0); err != nil {
		t.Errorf("a runtime that says not found: %v", err)
	}
}

func TestRemoveContainerLeavesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := newPod("web")
	id := r.start(t, p, fakecri.Program{Exits: true})
	dir := filepath.Join(r.layout.LogDir(p), "app")
	write(t, filepath.Join(dir, "0.log.20260102-030405"), "old")
	write(t, filepath.Join(dir, "0.log.20260102-030405.gz"), "older")
	write(t, filepath.Join(dir, "10.log"), "another attempt's")
	if err := r.RemoveContainer(t.Context(), p.UID, id); err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "logs left", []string{"pods/default_web_uid-web/app/10.log"}, filesBelow(t, r.layout.LogRoot))
	mustEqual(t, "files left", []string{"pods/uid-web/etc-hosts"}, filesBelow(t, r.layout.PodRoot))
	if got := r.cri.Newest("web", "app"); got != "" {
		t.Errorf("container %s is left", got)
	}
	if err := r.RemoveContainer(t.Context(), p.UID, id); err != nil {
		t.Errorf("removing it again: %v", err)
	}
}

// A failure keeps the container, so that the logs are tried again.
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

func TestRemoveContainerRefusesWhatIsForeign(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := newPod("web")
	id := r.start(t, p, fakecri.Program{Exits: true})
	other := connect(t, r.cri, t.TempDir(), "install-2")
	expectError(t, other.RemoveContainer(t.Context(), p.UID, id), "refused")
	expectError(t, r.RemoveContainer(t.Context(), "another-uid", id), "refused", "another-uid")
	mustEqual(t, "container", id, r.cri.Newest("web", "app"))
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
		log := filepath.Join(r.layout.LogDir(p), "app", logName(attempt))
		if err := os.MkdirAll(filepath.Dir(log), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(log, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		id := strings.Repeat("f", 60) + logName(attempt) // what tells it from others is cut off
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
