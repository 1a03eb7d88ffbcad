package runtime

import (
	"testing"

	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"
	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
	"github.com/wardlet/wardlet/test/fakecri"
)

func TestOnlyThisInstallationsPodsAreListed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	other := connect(t, r.cri, t.TempDir(), "install-2")
	r.start(t, newPod("ours"), fakecri.Program{})
	theirs := newPod("theirs")
	sandbox, err := other.RunSandbox(t.Context(), sandboxRun(theirs))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.StartContainer(t.Context(), containerRun(theirs, sandbox, 0)); err != nil {
		t.Fatal(err)
	}

	pods, err := r.ListPods(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(pods) != 1 || pods[0].Name != "ours" || len(pods[0].Containers) != 1 {
		t.Errorf("pods %v", pods)
	}
	got, err := r.InspectPod(t.Context(), theirs.UID)
	if err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "inspection of theirs", status.ObservedPod{UID: theirs.UID}, got)

	foreign, err := r.Foreign(t.Context())
	if err != nil || foreign != 1 {
		t.Errorf("%d foreign pods, %v; want 1", foreign, err)
	}
	kubelet, err := r.ForeignKubelet(t.Context())
	if err != nil || kubelet {
		t.Errorf("another Wardlet looks like a kubelet: %v, %v", kubelet, err)
	}
}

func TestWhatAKubeletMadeIsOursWhereItIsAdopted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.AdoptForeign = true
	other := connect(t, r.cri, t.TempDir(), "install-2")
	if _, err := other.RunSandbox(t.Context(), sandboxRun(newPod("theirs"))); err != nil {
		t.Fatal(err)
	}
	r.cri.Load(appImage, 1000, fakecri.Program{})
	client := r.config.Client.runtime
	config := &runtimeapi.PodSandboxConfig{
		Metadata: &runtimeapi.PodSandboxMetadata{Name: "web", Namespace: "default", Uid: "u-kubelet"},
		Labels:   map[string]string{pod.LabelPodUID: "u-kubelet", pod.LabelPodName: "web", pod.LabelPodNamespace: "default"},
	}
	sandbox, err := client.RunPodSandbox(t.Context(), &runtimeapi.RunPodSandboxRequest{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CreateContainer(t.Context(), &runtimeapi.CreateContainerRequest{
		PodSandboxId: sandbox.GetPodSandboxId(), SandboxConfig: config,
		Config: &runtimeapi.ContainerConfig{
			Metadata: &runtimeapi.ContainerMetadata{Name: "c"}, Image: &runtimeapi.ImageSpec{Image: appImage}, Labels: config.GetLabels(),
			Annotations: map[string]string{"io.kubernetes.container.hash": "kubelet"},
		},
	}); err != nil {
		t.Fatal(err)
	}

	pods, err := r.ListPods(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(pods) != 1 || pods[0].UID != "u-kubelet" || len(pods[0].Containers) != 1 {
		t.Fatalf("pods %+v, want the kubelet's and not another Wardlet's", pods)
	}
	if hash := pods[0].Containers[0].Hash; hash != "" {
		t.Errorf("hash %q, want none: a kubelet makes it otherwise, and the container would be replaced", hash)
	}
	if foreign, err := r.Foreign(t.Context()); err != nil || foreign != 1 {
		t.Errorf("%d foreign pods, %v; want the other Wardlet's", foreign, err)
	}
}

func TestAPodIsIdleWhereNothingOfItRunsAndNothingIsForeign(t *testing.T) {
	t.Parallel()
	stopped := func(t *testing.T, r *rig, p *v1.Pod) {
		t.Helper()
		sandbox := r.runSandbox(t, p)
		if err := r.StopSandbox(t.Context(), sandbox); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		prepare func(t *testing.T, r *rig, p *v1.Pod)
		foreign bool
		want    bool
	}{
		"the runtime does not know it": {prepare: func(*testing.T, *rig, *v1.Pod) {}, want: true},
		"its sandbox is over":          {prepare: stopped, want: true},
		"its sandbox is ready":         {prepare: func(t *testing.T, r *rig, p *v1.Pod) { t.Helper(); r.runSandbox(t, p) }},
		"its container runs": {prepare: func(t *testing.T, r *rig, p *v1.Pod) {
			t.Helper()
			r.start(t, p, fakecri.Program{})
		}},
		"the runtime keeps its container": {prepare: func(t *testing.T, r *rig, p *v1.Pod) {
			t.Helper()
			id := r.start(t, p, fakecri.Program{})
			r.cri.Keep(id)
			observed, err := r.InspectPod(t.Context(), p.UID)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.StopSandbox(t.Context(), observed.Sandboxes[0].ID); err != nil {
				t.Fatal(err)
			}
		}, want: true},
		"it is another installation's": {prepare: stopped, foreign: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			p := newPod("web")
			tc.prepare(t, r, p)
			asked := r.Runtime
			if tc.foreign {
				asked = connect(t, r.cri, t.TempDir(), "install-2")
			}
			idle, err := asked.Idle(t.Context(), p.UID)
			if err != nil || idle != tc.want {
				t.Errorf("idle is %t, %v", idle, err)
			}
		})
	}
}

func TestAPodIsNotIdleWhereTheRuntimeDoesNotSay(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"ListPodSandbox", "ListContainers"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.cri.Fail(method, grpcstatus.Error(codes.Unknown, "no answer"))
			if idle, err := r.Idle(t.Context(), "uid-web"); idle || err == nil {
				t.Errorf("idle is %t, %v", idle, err)
			}
		})
	}
}

func TestNetworkReadyIsTheLastPolls(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	expectError(t, r.NetworkReady(), "not been asked")
	r.config.Health.pollOnce(t.Context())
	if err := r.NetworkReady(); err != nil {
		t.Error(err)
	}
	r.cri.SetReady(true, false)
	r.config.Health.pollOnce(t.Context())
	expectError(t, r.NetworkReady(), "network is not ready: NetworkReadyMissing")
	r.cri.Stop()
	r.config.Health.pollOnce(t.Context())
	expectError(t, r.config.Health.Healthy(), "container runtime at "+r.cri.Endpoint()+" does not answer", "; waiting")
}
