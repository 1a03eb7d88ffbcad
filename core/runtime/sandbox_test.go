package runtime

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func TestRunSandboxMakesTheLogDirectory(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := newPod("web")
	if id := r.runSandbox(t, p); id == "" {
		t.Error("no ID")
	}
	if info, err := os.Stat(r.layout.LogDir(p)); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("log directory: %v, %v; want mode 0755", info, err)
	}
}

func TestRunSandboxReportsTheRuntimesError(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := newPod("web")
	r.runSandbox(t, p)
	_, err := r.RunSandbox(t.Context(), sandboxRun(p))
	expectError(t, err, "run sandbox: failed to reserve sandbox name", "web_default_uid-web_0")
}

func TestMissingClusterDNSIsSaidOncePerPod(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	web, db := newPod("web"), newPod("db")
	for _, p := range []*v1.Pod{web, db} {
		p.Spec.DNSPolicy, p.Spec.HostNetwork = v1.DNSClusterFirstWithHostNet, true
	}
	r.cri.FailTimes("RunPodSandbox", 2, status.Error(codes.Unknown, "not now"))
	for range 3 {
		_, _ = r.RunSandbox(t.Context(), sandboxRun(web))
	}
	r.runSandbox(t, db)
	mustEqual(t, "events", []string{"Warning MissingClusterDNS", "Warning MissingClusterDNS"}, r.events.reasons())
}

func TestAnnotationsThatAreNotOnTheSandboxAreToldOfOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := newPod("web")
	p.Annotations = map[string]string{"example.com/long": strings.Repeat("x", 16<<10)}
	r.runSandbox(t, p)
	run := sandboxRun(p)
	run.Attempt = 1
	if _, err := r.RunSandbox(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	got := r.events.take()
	if len(got) != 1 || !strings.HasPrefix(got[0], "Warning AnnotationsTooLong: ") || !strings.Contains(got[0], `"example.com/long"`) {
		t.Errorf("events %q", got)
	}
}

func TestStoppingAndRemovingASandboxTwiceSucceeds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.runSandbox(t, newPod("web"))
	for range 2 {
		if err := r.StopSandbox(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	for range 2 {
		if err := r.RemoveSandbox(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	r.cri.Fail("StopPodSandbox", status.Error(codes.NotFound, "not found"))
	r.cri.Fail("RemovePodSandbox", status.Error(codes.NotFound, "not found"))
	if err := r.StopSandbox(t.Context(), id); err != nil {
		t.Errorf("a runtime that says not found: %v", err)
	}
	if err := r.RemoveSandbox(t.Context(), id); err != nil {
		t.Errorf("a runtime that says not found: %v", err)
	}
}

func TestStopAndRemoveReportErrors(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cri.Fail("StopPodSandbox", status.Error(codes.Unknown, "netns is busy"))
	r.cri.Fail("RemovePodSandbox", status.Error(codes.Unknown, "netns is busy"))
	expectError(t, r.StopSandbox(t.Context(), "abc"), "stop sandbox abc: netns is busy")
	expectError(t, r.RemoveSandbox(t.Context(), "abc"), "remove sandbox abc: netns is busy")
}

func TestRunSandbox_usesTheHandlerOfTheClass(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		class *string
		// handler and err are the results of Handler. want is the handler in the request, or the
		// error.
		handler string
		err     error
		want    string
	}{
		"no class":                  {nil, "", errors.New("called without a class"), ""},
		"an empty class":            {new(""), "", errors.New("called without a class"), ""},
		"a class":                   {new("gvisor"), "runsc", nil, "runsc"},
		"a class of the default":    {new("plain"), "", nil, ""},
		"a class that is not known": {new("lost"), "", errors.New("no class \"lost\"; make it"), "runtimeClassName: no class \"lost\"; make it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			p := newPod("web")
			p.Spec.RuntimeClassName = test.class
			r.config.Handler = func(_ context.Context, of *v1.Pod) (string, error) {
				if of != p {
					t.Errorf("handler of %s", of.Name)
				}
				return test.handler, test.err
			}
			id, err := r.RunSandbox(t.Context(), sandboxRun(p))
			if test.err != nil && test.class != nil && *test.class != "" {
				expectError(t, err, test.want)
				if id != "" || r.cri.Count("RunPodSandbox") != 0 {
					t.Errorf("sandbox %q", id)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			mustEqual(t, "handler", test.want, r.cri.Calls("RunPodSandbox")[0].Request.(*runtimeapi.RunPodSandboxRequest).GetRuntimeHandler())
		})
	}
}

func TestRunSandbox_saysWhichHandlerIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := newPod("web")
	p.Spec.RuntimeClassName = new("gvisor")
	r.config.Handler = func(context.Context, *v1.Pod) (string, error) { return "runsc", nil }
	r.cri.Fail("RunPodSandbox", status.Error(codes.Unknown, `no runtime for "runsc" is configured`))
	_, err := r.RunSandbox(t.Context(), sandboxRun(p))
	expectError(t, err, `run sandbox with the runtime handler "runsc": no runtime for "runsc" is configured`)
}
