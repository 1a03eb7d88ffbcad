package runtime

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	grpcstatus "google.golang.org/grpc/status"
	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/runtime/criconfig"
	"github.com/wardlet/wardlet/core/status"
	"github.com/wardlet/wardlet/test/fakecri"
)

func TestListGroupsByUIDNewestFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cri.SetNow(r.clock.Now)
	r.cri.Load(appImage, 1, fakecri.Program{})
	old, recent := newPod("old"), newPod("recent")

	first := r.runSandbox(t, old)
	var containers []string
	for attempt := range uint32(2) {
		r.clock.advance(time.Second)
		id, err := r.StartContainer(t.Context(), containerRun(old, first, attempt))
		if err != nil {
			t.Fatal(err)
		}
		containers = append(containers, id)
	}
	r.cri.KillSandbox(first)
	again := sandboxRun(old)
	again.Attempt = 1
	second, err := r.RunSandbox(t.Context(), again)
	if err != nil {
		t.Fatal(err)
	}
	r.clock.advance(time.Second)
	r.runSandbox(t, recent)

	pods, err := r.ListPods(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range pods {
		names = append(names, string(p.UID)+" "+p.Namespace+"/"+p.Name)
	}
	mustEqual(t, "pods", []string{"uid-recent default/recent", "uid-old default/old"}, names)
	p := pods[1]
	mustEqual(t, "sandboxes", []string{second, first}, []string{p.Sandboxes[0].ID, p.Sandboxes[1].ID})
	mustEqual(t, "ready", []bool{true, false}, []bool{p.Sandboxes[0].Ready, p.Sandboxes[1].Ready})
	mustEqual(t, "containers", []string{containers[1], containers[0]}, []string{p.Containers[0].ID, p.Containers[1].ID})
	mustEqual(t, "state", status.StateExited, p.Containers[0].State)
	mustEqual(t, "hash", criconfig.ContainerHash(&old.Spec.Containers[0]), p.Containers[0].Hash)
	mustEqual(t, "document", "app.yaml#0", p.Sandboxes[0].Annotations[pod.AnnotationDocument])
	if !p.Containers[0].CreatedAt.Equal(time.Unix(1_700_000_002, 0)) {
		t.Errorf("created at %v", p.Containers[0].CreatedAt)
	}
}

func TestAPodHasTheNameOfItsNewestSandbox(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cri.SetNow(r.clock.Now)
	p := newPod("former")
	for i, name := range []string{"newest", "second", "former"} { // the runtime's clock went back, and so does its order
		run := sandboxRun(p)
		run.Pod = p.DeepCopy()
		run.Pod.Name, run.Attempt = name, uint32(2-i)
		id, err := r.RunSandbox(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		r.clock.advance(time.Second)
		if name != "newest" {
			r.cri.KillSandbox(id)
		}
	}
	pods, err := r.ListPods(t.Context())
	if err != nil || len(pods) != 1 {
		t.Fatalf("%d pods, %v", len(pods), err)
	}
	inspected, err := r.InspectPod(t.Context(), p.UID)
	if err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "names", []string{"newest", "newest"}, []string{pods[0].Name, inspected.Name})
}

func TestInspectFillsEverything(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cri.SetNow(r.clock.Now)
	p := newPod("web")
	p.Spec.Containers[0].Lifecycle = &v1.Lifecycle{StopSignal: new(v1.SIGUSR1)}
	id := r.start(t, p, fakecri.Program{Exits: true, After: time.Minute, Code: 3, Message: "bye"})

	got, err := r.InspectPod(t.Context(), p.UID)
	if err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "IPs", []string{"10.88.0.3"}, got.IPs)
	mustEqual(t, "state", status.StateRunning, got.Containers[0].State)
	mustEqual(t, "message while it runs", "", got.Containers[0].Message)

	r.clock.advance(time.Hour)
	if got, err = r.InspectPod(t.Context(), p.UID); err != nil {
		t.Fatal(err)
	}
	began := time.Unix(1_700_000_000, 0)
	sandbox := r.cri.Calls("CreateContainer")[0].Request.(*runtimeapi.CreateContainerRequest).GetPodSandboxId()
	want := status.ObservedPod{
		UID: "uid-web", Name: "web", Namespace: "default", IPs: []string{"10.88.0.3"},
		Sandboxes: []status.ObservedSandbox{{ID: sandbox, Ready: true, CreatedAt: began, IPs: []string{"10.88.0.3"}}},
		Containers: []status.ObservedContainer{{
			ID: id, SandboxID: sandbox, Name: "app", State: status.StateExited,
			CreatedAt: began, StartedAt: began, FinishedAt: began.Add(time.Minute), ExitCode: 3, Reason: "Error", Message: "bye",
			Image: appImage, Hash: criconfig.ContainerHash(&p.Spec.Containers[0]), LogPath: r.layout.LogDir(p) + "/app/0.log",
			StopSignal: v1.SIGUSR1,
		}},
	}
	ignore := cmp.Options{
		cmpopts.IgnoreFields(status.ObservedSandbox{}, "Labels", "Annotations"),
		cmpopts.IgnoreFields(status.ObservedContainer{}, "Labels", "Annotations", "ImageRef"),
	}
	if diff := cmp.Diff(want, got, ignore); diff != "" {
		t.Errorf("inspection (-want +got):\n%s", diff)
	}
	mustEqual(t, "container's labels", map[string]string{
		"io.kubernetes.pod.name": "web", "io.kubernetes.pod.namespace": "default",
		"io.kubernetes.pod.uid": "uid-web", "io.kubernetes.container.name": "app",
	}, got.Containers[0].Labels)
	if got.Containers[0].ImageRef == "" {
		t.Error("no image reference")
	}
}

func TestInspectOnTheNodesNetwork(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := newPod("web")
	p.Spec.HostNetwork = true
	r.runSandbox(t, p)
	got, err := r.InspectPod(t.Context(), p.UID)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Sandboxes[0].HostNetwork || len(got.IPs) > 0 {
		t.Errorf("host network %v, IPs %v", got.Sandboxes[0].HostNetwork, got.IPs)
	}
}

func TestInspectAsksNoMoreOfASandboxThatHasEnded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := newPod("web")
	ended := r.runSandbox(t, p)
	r.cri.KillSandbox(ended)
	again := sandboxRun(p)
	again.Attempt = 1
	ready, err := r.RunSandbox(t.Context(), again)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.InspectPod(t.Context(), p.UID)
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, s := range got.Sandboxes {
		shown = append(shown, fmt.Sprint(s.ID, s.Ready, s.Attempt))
	}
	mustEqual(t, "sandboxes", []string{fmt.Sprint(ready, true, 1), fmt.Sprint(ended, false, 0)}, shown)
	mustEqual(t, "calls", 1, r.cri.Count("PodSandboxStatus"))
	mustEqual(t, "addresses", got.Sandboxes[0].IPs, got.IPs)
}

func TestInspectOfAnUnknownPodHasOnlyItsUID(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	got, err := r.InspectPod(t.Context(), "nobody")
	if err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "inspection", status.ObservedPod{UID: "nobody"}, got)
}

func TestInspectLeavesOutWhatDisappears(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := newPod("web")
	r.start(t, p, fakecri.Program{})
	r.cri.FailTimes("PodSandboxStatus", 1, grpcstatus.Error(codes.NotFound, "not found"))
	r.cri.FailTimes("ContainerStatus", 1, grpcstatus.Error(codes.NotFound, "not found"))
	got, err := r.InspectPod(t.Context(), p.UID)
	if err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "parts left", 0, len(got.Sandboxes)+len(got.Containers))
}

func TestObservationReportsErrors(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]string{
		"ListPodSandbox":   "list sandboxes: broken",
		"ListContainers":   "list containers: broken",
		"PodSandboxStatus": "inspect sandbox ",
		"ContainerStatus":  "inspect container ",
	} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			p := newPod("web")
			r.start(t, p, fakecri.Program{})
			r.cri.Fail(method, grpcstatus.Error(codes.Unknown, "broken"))
			_, err := r.InspectPod(t.Context(), p.UID)
			expectError(t, err, want, "broken")
		})
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	for cri, want := range map[runtimeapi.ContainerState]status.ContainerState{
		runtimeapi.ContainerState_CONTAINER_CREATED: status.StateCreated,
		runtimeapi.ContainerState_CONTAINER_RUNNING: status.StateRunning,
		runtimeapi.ContainerState_CONTAINER_EXITED:  status.StateExited,
		runtimeapi.ContainerState_CONTAINER_UNKNOWN: status.StateUnknown,
		99: status.StateUnknown,
	} {
		mustEqual(t, cri.String(), want, stateOf(cri))
	}
}

func TestInspectedContainer_whoseStartFailed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		reason    string
		message   string
		startedAt int64
		want      status.ContainerState
	}{
		{"its caller went away", "StartError", "failed to create shim task: context canceled", 0, status.StateCreated},
		{"its program is missing", "StartError", "exec: \"sums\": not found", 0, status.StateExited},
		{"it took too long", "StartError", "context deadline exceeded", 0, status.StateExited},
		{"it has run", "StartError", "context canceled", 1, status.StateExited},
		{"it ended by itself", "Error", "context canceled", 0, status.StateExited},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			mustEqual(t, "state", c.want, inspectedContainer(&runtimeapi.ContainerStatus{
				State: runtimeapi.ContainerState_CONTAINER_EXITED, ExitCode: 128,
				Reason: c.reason, Message: c.message, StartedAt: c.startedAt,
			}, "s").State)
		})
	}
}

func TestImageNames(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ image, asked, want string }{
		"the runtime's name":            {"docker.io/library/app:1", "app:1", "docker.io/library/app:1"},
		"the name asked for, not an ID": {"sha256:0a", "app:1", "app:1"},
		"an ID where there is no more":  {"sha256:0a", "", "sha256:0a"},
		"the name asked for alone":      {"", "app:1", "app:1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mustEqual(t, "name", tc.want, imageName(&runtimeapi.ImageSpec{Image: tc.image, UserSpecifiedImage: tc.asked}))
		})
	}
}

// fill adds entries of size bytes in total to a map.
func fill(into map[string]string, size int) {
	for i := 0; size > 0; i++ {
		key := fmt.Sprintf("example.com/k%07d", i)
		into[key] = strings.Repeat("v", max(min(63, size-len(key)-pod.EntryCost), 0))
		size -= len(key) + len(into[key]) + pod.EntryCost
	}
}

// wireSize returns the size of an encoded message of the runtime.
func wireSize(t *testing.T, message any) int {
	t.Helper()
	data, err := encoding.GetCodecV2("proto").Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	defer data.Free()
	return data.Len()
}

// The runtime's list of all pods of a node has a maximum length. Each pod may use only its share of
// the list, whatever its manifest contains.
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
