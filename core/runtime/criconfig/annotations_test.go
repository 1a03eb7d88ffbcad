package criconfig

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/wardlet/wardlet/core/pod"
)

func TestSeenHasNineDigits(t *testing.T) {
	t.Parallel()
	run := sandboxRun(newPod("web"))
	run.Seen = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	mustEqual(t, "config.seen", "2026-01-02T03:04:05.000000000Z", annotationsOf(t, &run)[pod.AnnotationSeen])
}

func annotationsOf(t *testing.T, run *pod.SandboxRun) map[string]string {
	t.Helper()
	annotations, _, err := plainBuilder().sandboxAnnotations(run)
	if err != nil {
		t.Fatal(err)
	}
	return annotations
}

func TestASandboxTellsWhatItWasMadeFrom(t *testing.T) {
	t.Parallel()
	marks := func(change func(*v1.Pod)) (instance, final string) {
		p := fullPod()
		if change != nil {
			change(p)
		}
		run := sandboxRun(p)
		annotations := annotationsOf(t, &run)
		return annotations[pod.AnnotationInstance], annotations[pod.AnnotationFinal]
	}
	instance, final := marks(nil)
	for _, c := range []struct {
		name                      string
		change                    func(*v1.Pod)
		otherInstance, otherFinal bool
	}{
		{"the same pod gives the same marks", nil, false, false},
		{"what was changed after judging is another object of the same instance", func(p *v1.Pod) { p.Spec.HostNetwork = true }, false, true},
		{"another document is another instance", func(p *v1.Pod) { p.Annotations[pod.AnnotationHash] = "0a" }, true, false},
		{"another UID is another of both", func(p *v1.Pod) { p.UID = "0a" }, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			i, f := marks(c.change)
			if (i != instance) != c.otherInstance || (f != final) != c.otherFinal {
				t.Errorf("instance %s and final object %s after %s and %s", i, f, instance, final)
			}
		})
	}
	p := fullPod()
	want, err := pod.Instance(p)
	if err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "instance", want, instance)
	if want, err = pod.FinalHash(p); err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "final object", want, final)
}

func TestASandboxOfAPodThatPoliciesChangedTellsWhatItsSourceHas(t *testing.T) {
	t.Parallel()
	p := fullPod()
	p.Annotations[pod.AnnotationMutated] = "forged"
	run := sandboxRun(p)
	plain := annotationsOf(t, &run)
	if _, ok := plain[pod.AnnotationMutated]; ok {
		t.Error("a document says that policies changed it")
	}
	run.Instance = "of the source"
	changed := annotationsOf(t, &run)
	mustEqual(t, "mark", "true", changed[pod.AnnotationMutated])
	mustEqual(t, "instance", "of the source", changed[pod.AnnotationInstance])
	mustEqual(t, "final object", plain[pod.AnnotationFinal], changed[pod.AnnotationFinal])
}

func TestASandboxGetsTheAnnotationsThatFit(t *testing.T) {
	t.Parallel()
	x := func(n int) string { return strings.Repeat("x", n) }
	for name, tc := range map[string]struct {
		annotations map[string]string
		kept        []string
		notice      string
	}{
		"none":                           {nil, nil, ""},
		"all that fit":                   {map[string]string{"a": x(maxAnnotationBytes - 2 - 2*pod.EntryCost), "b": ""}, []string{"a", "b"}, ""},
		"not one that is too long":       {map[string]string{"a": x(maxAnnotationBytes), "b": "1"}, []string{"b"}, `1 of them, the longest, are not on the sandbox, where CNI plugins and the runtime would read them (["a"])`},
		"the shortest first":             {map[string]string{"a": x(maxAnnotationBytes/2 - 99), "b": x(maxAnnotationBytes / 2), "c": x(99)}, []string{"a", "c"}, `(["b"])`},
		"always whose the pod is":        {map[string]string{"a": x(maxAnnotationBytes - 1 - pod.EntryCost), pod.AnnotationSource: x(maxAnnotationBytes)}, []string{"a", pod.AnnotationSource}, ""},
		"the longest are named, not all": {map[string]string{"a": x(maxAnnotationBytes), "b": x(maxAnnotationBytes + 1), "c": x(maxAnnotationBytes + 2), "d": x(maxAnnotationBytes + 3)}, nil, `4 of them, the longest, are not on the sandbox, where CNI plugins and the runtime would read them (["b" "c" "d"])`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept, notices := limitAnnotations(tc.annotations)
			mustEqual(t, "kept", tc.kept, slices.Sorted(maps.Keys(kept)))
			got := ""
			if len(notices) > 0 {
				got = notices[0].Message
			}
			if (tc.notice == "") != (got == "") || !strings.Contains(got, tc.notice) {
				t.Errorf("notice %q, want %q", got, tc.notice)
			}
		})
	}
}

// The annotations of a container suffice to stop it when its pod is no longer known.
func TestRestoreContainer(t *testing.T) {
	t.Parallel()
	run := sandboxRun(fullPod())
	c := &run.Pod.Spec.Containers[0]
	c.TerminationMessagePath = "/m"
	c.Ports = []v1.ContainerPort{{Name: "web", ContainerPort: 8080}}
	c.Lifecycle = &v1.Lifecycle{PreStop: &v1.LifecycleHandler{HTTPGet: &v1.HTTPGetAction{Path: "/stop", Port: intstr.FromString("web")}}}
	annotations, err := plainBuilder().containerAnnotations(&pod.ContainerRun{Pod: run.Pod, Container: c, Sandbox: run})
	if err != nil {
		t.Fatal(err)
	}
	got, err := RestoreContainer("app", annotations)
	if err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "container", &v1.Container{Name: "app", TerminationMessagePath: "/m", Ports: c.Ports, Lifecycle: c.Lifecycle}, got)

	delete(annotations, annotationPreStop)
	annotations[annotationPorts] = "{}"
	got, err = RestoreContainer("app", annotations)
	mustEqual(t, "container", &v1.Container{Name: "app", TerminationMessagePath: "/m"}, got)
	if err == nil || !strings.HasPrefix(err.Error(), "annotation io.kubernetes.container.ports of the container cannot be read: ") {
		t.Errorf("error %v", err)
	}
}
