package agent

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/eviction"
	"github.com/wardlet/wardlet/core/eviction/threshold"
	"github.com/wardlet/wardlet/core/node"
	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/stats/kernel"
	"github.com/wardlet/wardlet/core/status"
	"github.com/wardlet/wardlet/core/syncloop"
	"github.com/wardlet/wardlet/core/worker"
)

// wireEviction makes the part that evicts pods when the node runs out of a resource. It uses pods
// and workers only while the agent runs.
func (n *Node) wireEviction(counters *kernel.Kernel) {
	c := &n.cfg.Eviction
	machine := eviction.NewMachine(eviction.MachineConfig{
		Kernel: counters, CgroupRoot: n.cgroups.Root, MemoryLimit: n.memoryOfPods(), Layout: parts.Layout(n.cfg),
		ImageFS: n.runtime.ImageStore, Containers: n.containerNames, Layers: n.layers, Log: n.log, Now: time.Now,
	})
	var tenant func(namespace string) string
	if of := priorities(n.cfg.Tenants); c.TenantsPayFirst && len(n.cfg.Tenants) > 0 {
		tenant = func(namespace string) string {
			name, _, _ := of(namespace)
			return name
		}
	}
	thresholds := c.Thresholds()
	if n.memoryOfPods() > 0 {
		thresholds = threshold.WithAllocatable(thresholds)
	}
	n.eviction = eviction.New(eviction.Config{
		Thresholds: thresholds, Transition: c.PressureTransitionPeriod, MaxPodGrace: int64(c.MaxPodGracePeriod / time.Second),
		Node: machine, Pods: evictable{n}, Reclaim: reclaimer{n}, Critical: criticality(n.cfg, n.node).Critical, Tenant: tenant,
		NodeEvent: n.nodeWarning, Changed: n.pressureChanged, Evicted: func(s threshold.Signal) { n.meters.Evictions.Evicted(string(s)) },
		Log: n.log, Now: time.Now,
	})
	n.limits = n.newLimits(machine.DedicatedImageFS)
	n.showPressure()
}

// keepFree subtracts from the resources that pods can request what the hard thresholds keep free, as
// a kubelet does: pods that use all they request are not evicted.
func keepFree(st *v1.NodeStatus, thresholds []threshold.Threshold) {
	names := map[threshold.Signal]v1.ResourceName{threshold.MemoryAvailable: v1.ResourceMemory, threshold.NodeFSAvailable: v1.ResourceEphemeralStorage}
	for i := range thresholds {
		t := &thresholds[i]
		name, ok := names[t.Signal]
		if !ok || !t.Hard() {
			continue
		}
		capacity, left := st.Capacity[name], st.Allocatable[name]
		left.Sub(t.Value.Of(capacity.Value()))
		if left.Sign() < 0 {
			left = *resource.NewQuantity(0, resource.BinarySI)
		}
		st.Allocatable[name] = left
	}
}

// pressure returns the conditions by which pods are admitted.
func (n *Node) pressure() admission.Handler {
	return admission.Pressure{Critical: criticality(n.cfg, n.node), Conditions: func() []v1.NodeConditionType {
		var types []v1.NodeConditionType
		for _, c := range n.eviction.Conditions() {
			types = append(types, c.Type)
		}
		return types
	}}
}

// pressureNow returns the resources that are running out.
func (n *Node) pressureNow() node.Pressure {
	var p node.Pressure
	for _, c := range n.eviction.Conditions() {
		switch c.Type {
		case v1.NodeMemoryPressure:
			p.Memory = c.Message
		case v1.NodeDiskPressure:
			p.Disk = c.Message
		case v1.NodePIDPressure:
			p.PID = c.Message
		}
	}
	return p
}

// pressureChanged shows the conditions, and lets pods that wait for the end of pressure be judged
// again.
func (n *Node) pressureChanged() {
	n.showPressure()
	n.loop.JudgeAgain()
}

// showPressure writes the conditions into the node object.
func (n *Node) showPressure() {
	pressure, now := n.pressureNow(), metav1.NewTime(time.Now().Truncate(time.Second))
	n.object.Update(func(is *v1.Node) { node.SetPressure(&is.Status, pressure, now) })
}

// nodeWarning records an event about the node.
func (n *Node) nodeWarning(reason, message string) {
	n.events.Event(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: n.node}}, v1.EventTypeWarning, reason, message)
	if n.apiEvents != nil {
		n.apiEvents.NodeEvent(v1.EventTypeWarning, reason, message)
	}
}

// containerNames returns the names of a pod's containers in the runtime by ID.
func (n *Node) containerNames(uid types.UID) map[string]string {
	observed, _ := n.cache.Get(uid)
	names := map[string]string{}
	for i := range observed.Containers {
		names[observed.Containers[i].ID] = observed.Containers[i].Name
	}
	return names
}

// runningContainers returns the names of a pod's running containers by ID.
func (n *Node) runningContainers(uid types.UID) map[string]string {
	observed, _ := n.cache.Get(uid)
	names := map[string]string{}
	for i := range observed.Containers {
		if c := &observed.Containers[i]; c.State == status.StateRunning {
			names[c.ID] = c.Name
		}
	}
	return names
}

// layers returns what the writable layers of containers use.
func (n *Node) layers(ctx context.Context) (map[string]eviction.Layer, error) {
	found, err := n.runtime.WritableLayers(ctx)
	layers := make(map[string]eviction.Layer, len(found))
	for id, l := range found {
		layers[id] = eviction.Layer(l)
	}
	return layers, err
}

// reclaimer removes what no pod needs. The collector is made after the part that evicts.
type reclaimer struct{ *Node }

// RemoveDeadContainers implements eviction.Reclaimer.
func (r reclaimer) RemoveDeadContainers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reclaimTime)
	defer cancel()
	return r.garbage.RemoveDeadContainers(ctx)
}

// RemoveUnusedImages implements eviction.Reclaimer.
func (r reclaimer) RemoveUnusedImages(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reclaimTime)
	defer cancel()
	return r.unusedImages.RemoveAll(ctx)
}

// reclaimTime is for how long eviction waits for the removal of dead containers, and of images.
const reclaimTime = 30 * time.Second

const reasonEvicted = "Evicted"

// evictable are the pods for eviction.
type evictable struct{ *Node }

// Active implements eviction.Pods. A pod without a worker has not started.
func (e evictable) Active() []*v1.Pod {
	var pods []*v1.Pod
	for _, d := range e.mux.Pods() {
		if uid := d.Pod.UID; !pod.IsMirror(d.Pod) && e.workers.Has(uid) && e.workers.MayRunContainers(uid) {
			pods = append(pods, d.Pod)
		}
	}
	return pods
}

// Evict implements eviction.Pods.
func (e evictable) Evict(p *v1.Pod, grace int64, message string, annotations map[string]string) {
	status.AnnotatedEvent(e.recorder, p, annotations, v1.EventTypeWarning, reasonEvicted, message)
	how := &worker.KillOptions{Grace: &grace, Evict: true, Status: syncloop.DisruptedStatus(reasonEvicted, message, message)}
	e.workers.Submit(worker.Request{Kind: worker.Kill, Pod: p, Origin: e.origins()[p.UID], Kill: how})
}

// CleanedUp implements eviction.Pods.
func (e evictable) CleanedUp(uid types.UID) bool {
	return e.workers.Done(uid) && !e.workers.InRuntime(uid)
}
