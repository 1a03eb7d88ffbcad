package runtime

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/encoding"
	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/test/fakecri"
)

func TestSeenHasNineDigits(t *testing.T) {
	t.Parallel()
	run := sandboxRun(newPod("web"))
	run.Seen = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	mustEqual(t, "config.seen", "2026-01-02T03:04:05.000000000Z", annotationsOf(t, &run)[pod.AnnotationSeen])
}

func annotationsOf(t *testing.T, run *pod.SandboxRun) map[string]string {
	t.Helper()
	annotations, _, err := plainRuntime().sandboxAnnotations(run)
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
				got = notices[0].message
			}
			if (tc.notice == "") != (got == "") || !strings.Contains(got, tc.notice) {
				t.Errorf("notice %q, want %q", got, tc.notice)
			}
		})
	}
}

// fill puts entries of that many bytes together into a map.
func fill(into map[string]string, size int) {
	for i := 0; size > 0; i++ {
		key := fmt.Sprintf("example.com/k%07d", i)
		into[key] = strings.Repeat("v", max(min(63, size-len(key)-pod.EntryCost), 0))
		size -= len(key) + len(into[key]) + pod.EntryCost
	}
}

// wireSize is how long a message of the runtime is.
func wireSize(t *testing.T, message any) int {
	t.Helper()
	data, err := encoding.GetCodecV2("proto").Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	defer data.Free()
	return data.Len()
}

// A list of the runtime has a greatest length, for all pods of a node together. Each
// may take its part of it, whatever it says.
func TestAPodTakesNoMoreThanItsPartOfAList(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cri.Load(appImage, 1000, fakecri.Program{})
	p := newPod("web")
	p.Labels, p.Annotations = map[string]string{}, map[string]string{pod.AnnotationSource: "files"}
	fill(p.Labels, pod.MaxLabels)
	fill(p.Annotations, 256<<10)
	for range 10_000 {
		p.Spec.Containers[0].Ports = append(p.Spec.Containers[0].Ports, v1.ContainerPort{ContainerPort: 80, Protocol: v1.ProtocolTCP})
	}
	p.Spec.Containers[0].Lifecycle = &v1.Lifecycle{PreStop: &v1.LifecycleHandler{Exec: &v1.ExecAction{Command: []string{strings.Repeat("x", 1<<20)}}}}
	if _, err := r.StartContainer(t.Context(), containerRun(p, r.runSandbox(t, p), 0)); err != nil {
		t.Fatal(err)
	}
	sandboxes, err := r.Runtime.cri.ListPodSandbox(t.Context(), &runtimeapi.ListPodSandboxRequest{})
	if err != nil {
		t.Fatal(err)
	}
	containers, err := r.Runtime.cri.ListContainers(t.Context(), &runtimeapi.ListContainersRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if size := wireSize(t, sandboxes); size > maxMessage/200 {
		t.Errorf("%d bytes of a list of sandboxes", size)
	}
	if size := wireSize(t, containers); size > 4<<10 {
		t.Errorf("%d bytes of a list of containers", size)
	}
	pods, err := r.ListPods(t.Context())
	if err != nil || len(pods) != 1 {
		t.Fatalf("%d pods, %v", len(pods), err)
	}
	mustEqual(t, "source", "files", pods[0].Source())
}

func TestAnnotationsThatAreNotOnTheSandboxAreToldOfOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := newPod("web")
	p.Annotations = map[string]string{"example.com/long": strings.Repeat("x", maxAnnotationBytes)}
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
