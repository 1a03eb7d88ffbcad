package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/container"
	kubelet "k8s.io/kubernetes/pkg/kubelet/pleg"
	"k8s.io/utils/clock"
)

// newKubelet makes a kubelet's generator, and returns a function that makes one list.
func newKubelet(pods int) func() error {
	r := &kubeletRuntime{}
	for i := range pods {
		p := &container.Pod{ID: podUID(i), Name: name("pod", i), Namespace: "default"}
		p.Sandboxes = []*container.Container{{ID: kubeletID("sandbox", i), State: container.ContainerStateRunning}}
		for _, c := range []string{"main", "sidecar"} {
			p.Containers = append(p.Containers, &container.Container{ID: kubeletID(c, i), Name: c, State: container.ContainerStateRunning})
		}
		r.pods = append(r.pods, p)
	}
	events := make(chan *kubelet.PodLifecycleEvent, 1000)
	durations := &kubelet.RelistDuration{RelistPeriod: time.Second, RelistThreshold: 3 * time.Minute}
	g := kubelet.NewGenericPLEG(klog.Logger{}, r, events, durations, container.NewCache(), clock.RealClock{}).(interface{ Relist() })
	return func() error {
		now := time.Now()
		for _, p := range r.pods {
			p.Timestamp = now
		}
		g.Relist()
		return nil
	}
}

// kubeletRuntime returns prepared pods. A generator does not call the methods that are missing
// here.
type kubeletRuntime struct {
	container.Runtime
	pods []*container.Pod
}

func (r *kubeletRuntime) GetPods(context.Context, bool) ([]*container.Pod, error) { return r.pods, nil }

func (r *kubeletRuntime) GetPodStatus(_ context.Context, p *container.Pod) (*container.PodStatus, error) {
	return &container.PodStatus{ID: p.ID}, nil
}

func kubeletID(kind string, i int) container.ContainerID {
	return container.ContainerID{Type: "containerd", ID: id(kind, i)}
}

func podUID(i int) types.UID {
	return types.UID("00000000-0000-4000-8000-" + strconv.Itoa(100_000_000_000+i))
}

func name(kind string, i int) string { return kind + "-" + strconv.Itoa(i) }

// id returns an ID as long as a container's.
func id(kind string, i int) string {
	sum := sha256.Sum256([]byte(name(kind, i)))
	return hex.EncodeToString(sum[:])
}
