package pleg

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/container"
	kubelet "k8s.io/kubernetes/pkg/kubelet/pleg"
	"k8s.io/utils/clock"

	"github.com/wardlet/wardlet/core/status"
)

// theirs is a kubelet's generic generator with its cache.
type theirs struct {
	generator generic
	events    chan *kubelet.PodLifecycleEvent
	cache     container.Cache
	runtime   *kubeletRuntime
	// reading are the readers that wait for an answer.
	reading sync.WaitGroup
}

// generic is the interface of a kubelet's generator.
type generic interface {
	kubelet.PodLifecycleEventGenerator
	Stop()
}

// newTheirs returns a generator that lists every second from now on.
func newTheirs(w *world) *theirs {
	t := &theirs{
		events: make(chan *kubelet.PodLifecycleEvent, 1000), cache: container.NewCache(), runtime: &kubeletRuntime{world: w},
	}
	durations := &kubelet.RelistDuration{RelistPeriod: time.Second, RelistThreshold: 3 * time.Minute}
	t.generator = kubelet.NewGenericPLEG(klog.Logger{}, t.runtime, t.events, durations, t.cache, clock.RealClock{}).(generic)
	t.generator.Start()
	return t
}

// stop stops the generator and the readers that still wait for its cache.
func (t *theirs) stop() {
	t.generator.Stop()
	t.cache.UpdateTime(time.Now().Add(1000 * time.Hour))
	t.reading.Wait()
}

// told returns the events since the last call, by pod.
func (t *theirs) told() map[types.UID][]string {
	out := map[types.UID][]string{}
	for len(t.events) > 0 {
		e := <-t.events
		id, _ := e.Data.(string)
		out[e.ID] = append(out[e.ID], fmt.Sprintf("%s %s", e.Type, id))
	}
	return out
}

// newer requests the state newer than at. The answer comes through the channel when there is one.
func (t *theirs) newer(uid types.UID, at time.Time) <-chan view {
	answer := make(chan view, 1)
	t.reading.Go(func() { answer <- viewOfKubelet(t.cache.GetNewerThan(uid, at)) })
	return answer
}

func viewOfKubelet(p *container.PodStatus, err error) view {
	v := view{failed: err != nil}
	if p == nil {
		return v
	}
	for _, c := range p.ContainerStatuses {
		v.containers = append(v.containers, part{c.ID.ID, stateOfKubelet(c.State)})
	}
	for _, s := range p.SandboxStatuses {
		state := status.StateExited
		if s.State == runtimeapi.PodSandboxState_SANDBOX_READY {
			state = status.StateRunning
		}
		v.sandboxes = append(v.sandboxes, part{s.Id, state})
	}
	v.addresses = p.IPs
	return v
}

// kubeletRuntime implements a kubelet's runtime with the world. A generator does not call the
// methods that are missing here.
type kubeletRuntime struct {
	container.Runtime
	world     *world
	inspected inspections
}

func (r *kubeletRuntime) GetPods(context.Context, bool) ([]*container.Pod, error) {
	r.world.mu.Lock()
	defer r.world.mu.Unlock()
	if r.world.listFail {
		return nil, errList
	}
	var pods []*container.Pod
	for _, uid := range r.world.uids() {
		pods = append(pods, kubeletPod(uid, r.world.pods[uid]))
	}
	return pods, nil
}

func (r *kubeletRuntime) GetPod(_ context.Context, uid types.UID) (*container.Pod, error) {
	r.world.mu.Lock()
	defer r.world.mu.Unlock()
	p := r.world.pods[uid]
	if p == nil {
		return nil, container.ErrPodNotFound
	}
	return kubeletPod(uid, p), nil
}

func (r *kubeletRuntime) GetPodStatus(_ context.Context, pod *container.Pod) (*container.PodStatus, error) {
	r.inspected.add(pod.ID)
	r.world.mu.Lock()
	defer r.world.mu.Unlock()
	p := r.world.pods[pod.ID]
	if p == nil {
		return &container.PodStatus{ID: pod.ID}, nil
	}
	if p.fails {
		return nil, errInspect
	}
	out := &container.PodStatus{ID: pod.ID, IPs: p.addresses()}
	for _, c := range p.containers {
		out.ContainerStatuses = append(out.ContainerStatuses, &container.Status{ID: kubeletID(c.id), State: kubeletState[c.state]})
	}
	for _, s := range p.sandboxes {
		state := runtimeapi.PodSandboxState_SANDBOX_NOTREADY
		if s.state == status.StateRunning {
			state = runtimeapi.PodSandboxState_SANDBOX_READY
		}
		out.SandboxStatuses = append(out.SandboxStatuses, &runtimeapi.PodSandboxStatus{Id: s.id, State: state})
	}
	return out, nil
}

func kubeletPod(uid types.UID, p *worldPod) *container.Pod {
	out := &container.Pod{ID: uid, Name: string(uid), Namespace: "default", Timestamp: time.Now()}
	for _, c := range p.containers {
		out.Containers = append(out.Containers, &container.Container{ID: kubeletID(c.id), State: kubeletState[c.state]})
	}
	for _, s := range p.sandboxes {
		out.Sandboxes = append(out.Sandboxes, &container.Container{ID: kubeletID(s.id), State: kubeletState[s.state]})
	}
	return out
}

func kubeletID(id string) container.ContainerID { return container.ContainerID{Type: "test", ID: id} }

var kubeletState = map[status.ContainerState]container.State{
	status.StateCreated: container.ContainerStateCreated,
	status.StateRunning: container.ContainerStateRunning,
	status.StateExited:  container.ContainerStateExited,
	status.StateUnknown: container.ContainerStateUnknown,
}

func stateOfKubelet(s container.State) status.ContainerState {
	for ours, theirs := range kubeletState {
		if theirs == s {
			return ours
		}
	}
	return ""
}
