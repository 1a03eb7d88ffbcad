package runtime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
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
			message: `container "app": env "A": valueFrom says nothing; give it a value`,
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

func TestAContainerThatIsTooLongDoesNotStart(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := newPod("web")
	vars := []v1.EnvVar{{Name: "V0", Value: "0123456789abcdef"}}
	for i := 1; i < 30; i++ { // each is twice the one before
		before := fmt.Sprintf("$(V%d)", i-1)
		vars = append(vars, v1.EnvVar{Name: fmt.Sprintf("V%d", i), Value: before + before})
	}
	p.Spec.Containers[0].Env = vars
	run := containerRun(p, r.runSandbox(t, p), 0)
	_, err := r.StartContainer(t.Context(), run)
	var fault *wardlet.Fault
	if !errors.As(err, &fault) || fault.Reason != "CreateContainerConfigError" || !strings.Contains(err.Error(), `env "V15"`) {
		t.Errorf("got %v", err)
	}
}

func TestStartContainer_asksTheRuntimeForTheUserOfTheImage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cri.Load(appImage, 1, fakecri.Program{User: "7"})
	p := newPod("web")
	p.Spec.Containers[0].SecurityContext = &v1.SecurityContext{RunAsNonRoot: new(true)}
	if _, err := r.StartContainer(t.Context(), containerRun(p, r.runSandbox(t, p), 0)); err != nil {
		t.Fatal(err)
	}
	made := r.cri.Calls("CreateContainer")[0].Request.(*runtimeapi.CreateContainerRequest)
	mustEqual(t, "user", 7, made.GetConfig().GetLinux().GetSecurityContext().GetRunAsUser().GetValue())
}

func TestMounts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := newPod("web")
	run := containerRun(p, "sandbox", 3)
	run.Mounts = []pod.Mount{{HostPath: "/data", ContainerPath: "/srv/data", ReadOnly: true}, {HostPath: "/tmp/x", ContainerPath: "/x"}}
	var got []string
	for _, m := range r.mounts(&run) {
		got = append(got, fmt.Sprintf("%s %s %t", m.GetHostPath(), m.GetContainerPath(), m.GetReadonly()))
	}
	mustEqual(t, "mounts", []string{
		"/data /srv/data true",
		"/tmp/x /x false",
		r.layout.PodRoot + "/pods/uid-web/etc-hosts /etc/hosts false",
		r.layout.PodRoot + "/pods/uid-web/containers/app/00000003 /dev/termination-log false",
	}, got)

	p.Spec.Containers[0].TerminationMessagePath = ""
	run.Mounts, run.SandboxIPs = nil, nil
	if none := r.mounts(&run); len(none) > 0 {
		t.Errorf("a container that needs none has %v", none)
	}
}

// An unreachable runtime is not the container's fault, so no container is marked as failed.
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
			if err == nil || errors.Is(err, wardlet.ErrContainerStuck) != tc.kept {
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
	for range 50 { // until the client has reconnected
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

// If a call is cancelled in the middle of a start, the runtime may keep the container.
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

func TestAContextOutlivesAnotherByAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		short, cancel := context.WithCancel(t.Context())
		longer, release := extendContext(short, time.Second)
		defer release()
		time.Sleep(time.Minute)
		cancel()
		time.Sleep(time.Second - time.Nanosecond)
		synctest.Wait()
		if err := longer.Err(); err != nil {
			t.Errorf("it ended too early: %v", err)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if longer.Err() == nil {
			t.Error("it has not ended")
		}
	})
}

func TestAContextThatIsReleasedEndsAtOnce(t *testing.T) {
	t.Parallel()
	longer, release := extendContext(t.Context(), time.Hour)
	release()
	if longer.Err() == nil {
		t.Error("it has not ended")
	}
}
