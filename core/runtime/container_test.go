package runtime

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

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
			message: `container "app": env "A": valueFrom is supported with fieldRef and resourceFieldRef only; give it a value`,
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

func TestContainerConfig(t *testing.T) {
	t.Parallel()
	run := fullRun(fullPod())
	config, err := plainRuntime().containerConfig(t.Context(), &run)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "container-full.golden.json", asJSON(t, withoutCPUs(config)))

	p := fullPod()
	p.Spec.ShareProcessNamespace = new(true)
	run = fullRun(p)
	run.Container, run.Mounts, run.SandboxIPs = &p.Spec.Containers[1], nil, nil
	if config, err = plainRuntime().containerConfig(t.Context(), &run); err != nil {
		t.Fatal(err)
	}
	golden(t, "container-plain.golden.json", asJSON(t, withoutCPUs(config)))
}

// withoutCPUs leaves out the masked paths that are those of this machine's processors.
func withoutCPUs(config *runtimeapi.ContainerConfig) *runtimeapi.ContainerConfig {
	security := config.Linux.SecurityContext
	security.MaskedPaths = slices.DeleteFunc(security.MaskedPaths, func(path string) bool { return strings.HasPrefix(path, "/sys/devices/system/cpu/") })
	return config
}

// The hashes are those of the first release: were one to change, an upgrade
// would restart every container.
func TestContainerHashNeverChanges(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, image, want string }{
		{"app", "registry.example/app:1", "b188a4f6"},
		{"app", "registry.example/app:2", "b088a363"},
		{"side", "registry.example/app:1", "289a5ae0"},
		{"", "", "050c5d1f"},
	} {
		if got := ContainerHash(&v1.Container{Name: tc.name, Image: tc.image}); got != tc.want {
			t.Errorf("%s %s: hash %s, want %s", tc.name, tc.image, got, tc.want)
		}
	}
}

func TestContainerHashCoversOnlyNameAndImage(t *testing.T) {
	t.Parallel()
	plain := &v1.Container{Name: "app", Image: "app:1"}
	other := &v1.Container{Name: "app", Image: "app:1", Command: []string{"sh"}, Env: []v1.EnvVar{{Name: "A", Value: "b"}}, TTY: true}
	if ContainerHash(plain) != ContainerHash(other) {
		t.Error("a change of command, env or tty changes the hash")
	}
}

func TestAContainerHasItsAppArmorProfile(t *testing.T) {
	t.Parallel()
	local := &v1.AppArmorProfile{Type: v1.AppArmorProfileTypeLocalhost, LocalhostProfile: new("mine")}
	for name, tc := range map[string]struct {
		profile *v1.AppArmorProfile
		want    *runtimeapi.SecurityProfile
		old     string
		err     string
	}{
		"nothing is said":       {},
		"the runtime's":         {&v1.AppArmorProfile{Type: v1.AppArmorProfileTypeRuntimeDefault}, &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_RuntimeDefault}, "runtime/default", ""},
		"none":                  {&v1.AppArmorProfile{Type: v1.AppArmorProfileTypeUnconfined}, &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_Unconfined}, "unconfined", ""},
		"one that is loaded":    {local, &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_Localhost, LocalhostRef: "mine"}, "localhost/mine", ""},
		"one without a name":    {&v1.AppArmorProfile{Type: v1.AppArmorProfileTypeLocalhost}, nil, "", `container "app": the AppArmor profile has no name`},
		"one of another system": {&v1.AppArmorProfile{Type: "Mine"}, nil, "", `container "app": unknown type "Mine" of an AppArmor profile`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fullPod()
			p.Spec.SecurityContext = &v1.PodSecurityContext{AppArmorProfile: tc.profile}
			run := fullRun(p)
			config, err := plainRuntime().containerConfig(t.Context(), &run)
			if tc.err != "" {
				expectError(t, err, tc.err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			is := config.GetLinux().GetSecurityContext()
			if d := cmp.Diff(string(asJSON(t, tc.want)), string(asJSON(t, is.GetApparmor()))); d != "" {
				t.Errorf("profile (-want +got):\n%s", d)
			}
			mustEqual(t, "in the form of older runtimes", tc.old, is.GetApparmorProfile()) //nolint:staticcheck // that is the form
		})
	}
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
