//go:build e2e

package cluster

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	coordination "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/cluster"
	"github.com/wardlet/wardlet/core/node"
)

// knownPods stands in for an agent's pods: no agent runs them.
type knownPods struct {
	mu       sync.Mutex
	pods     map[types.UID]*v1.Pod
	statuses map[types.UID]v1.PodStatus
	running  bool
	// held: no pod has begun on the node.
	held bool
}

func (k *knownPods) All() []*v1.Pod {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Collect(maps.Values(k.pods))
}

func (k *knownPods) Get(uid types.UID) *v1.Pod {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.pods[uid]
}

func (k *knownPods) Status(p *v1.Pod) (v1.PodStatus, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	st, ok := k.statuses[p.UID]
	return st, ok
}

func (k *knownPods) MayRun(types.UID) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.running
}

// Adopt does nothing: the times of these pods are of this process.
func (k *knownPods) Adopt(types.UID, *v1.PodStatus) {}

func (k *knownPods) Begun(types.UID) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return !k.held
}

func (k *knownPods) Started(uid types.UID) bool { return k.Begun(uid) && k.MayRun(uid) }

func (k *knownPods) Finished(types.UID) bool { return !k.MayRun("") }

func (k *knownPods) set(p *v1.Pod, phase v1.PodPhase, running bool, conditions ...v1.PodCondition) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.pods[p.UID], k.running = p, running
	k.statuses[p.UID] = v1.PodStatus{Phase: phase, Conditions: conditions, QOSClass: v1.PodQOSBestEffort}
}

// forget removes the status of a pod.
func (k *knownPods) forget(uid types.UID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.statuses, uid)
}

// member is a node that is a member of a rig's cluster.
type member struct {
	*cluster.Member
	object *node.Object
	pods   *knownPods
}

func (r *rig) member(t *testing.T) *member {
	t.Helper()
	return r.memberOf(t, nil)
}

// memberOf is member for a node that also has static pods.
func (r *rig) memberOf(t *testing.T, statics cluster.Statics) *member {
	t.Helper()
	m := &member{pods: &knownPods{pods: map[types.UID]*v1.Pod{}, statuses: map[types.UID]v1.PodStatus{}}}
	is := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: r.node, Labels: map[string]string{"site": "north"}}}
	is.Status.Addresses = cluster.Addresses([]byte{192, 0, 2, 7}, r.node)
	node.SetConditions(&is.Status, "", node.Pressure{}, metav1.NewTime(time.Now().Truncate(time.Second)))
	m.object = node.NewObject(is)
	m.Member = cluster.New(cluster.Config{
		Client: r.client(t), Node: m.object, Pods: m.pods, Statics: statics, Memory: &r.memory, Events: newEvents(t, r), Logger: r.log(t), Now: time.Now,
		Taints: []v1.Taint{{Key: "edge", Effect: v1.TaintEffectNoSchedule}},
	})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { m.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return m
}

// memory stores a node object for the members of a rig.
type memory struct {
	mu   sync.Mutex
	node *v1.Node
}

func (m *memory) Load() (*v1.Node, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.node, nil
}

func (m *memory) Store(n *v1.Node) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.node = n
	return nil
}

// An agent that starts without the server still has what others set on the node: labels, and that
// the node is unschedulable.
func TestMember_restartWithoutServer(t *testing.T) {
	t.Parallel()
	r := newRig(t, shared(t))
	first := r.member(t)
	eventually(t, v1.ConditionTrue, func() v1.ConditionStatus { return ready(r.getNode(t)) })
	r.do(t, http.MethodPatch, "/api/v1/nodes/"+r.node, map[string]any{
		"metadata": map[string]any{"labels": map[string]string{"rack": "7", "site": "south"}}, "spec": map[string]any{"unschedulable": true},
	}, nil)
	eventually(t, "7", func() string { return first.object.Node().Labels["rack"] })
	eventually(t, true, func() bool { n, _ := r.memory.Load(); return n.Labels["rack"] == "7" })
	r.net.Refuse()
	is := r.member(t).object.Node()
	if is.Labels["rack"] != "7" || is.Labels["site"] != "north" || !is.Spec.Unschedulable {
		t.Errorf("labels %v, spec %+v; the node's own labels come first", is.Labels, is.Spec)
	}
}

func (r *rig) getNode(t *testing.T) *v1.Node {
	t.Helper()
	n := &v1.Node{}
	if err := r.plane.Admin().Do(t.Context(), http.MethodGet, "/api/v1/nodes/"+r.node, nil, n); err != nil {
		return nil
	}
	return n
}

func ready(n *v1.Node) v1.ConditionStatus {
	if n != nil {
		for _, c := range n.Status.Conditions {
			if c.Type == v1.NodeReady {
				return c.Status
			}
		}
	}
	return ""
}

// nodeEvents returns the reasons of the events that kubectl shows for the node, in the order of the
// events' names.
func (r *rig) nodeEvents(t *testing.T) string {
	t.Helper()
	all := &v1.EventList{}
	r.do(t, http.MethodGet, "/api/v1/namespaces/default/events?fieldSelector=involvedObject.kind=Node,involvedObject.namespace=,involvedObject.name="+
		r.node+",involvedObject.uid="+r.node, nil, all)
	var reasons []string
	for i := range all.Items {
		reasons = append(reasons, all.Items[i].Reason)
	}
	slices.Sort(reasons)
	return strings.Join(reasons, " ")
}

func TestMember_node(t *testing.T) {
	t.Parallel()
	r := newRig(t, shared(t))
	m := r.member(t)
	eventually(t, v1.ConditionTrue, func() v1.ConditionStatus { return ready(r.getNode(t)) })
	there := r.getNode(t)
	if there.Labels["site"] != "north" || len(there.Spec.Taints) == 0 || there.Status.Addresses[0].Address != "192.0.2.7" {
		t.Errorf("registered as %+v with %+v, %+v", there.Labels, there.Spec, there.Status.Addresses)
	}

	m.object.Update(func(n *v1.Node) {
		node.SetConditions(&n.Status, "the runtime is away", node.Pressure{}, metav1.Now())
	})
	eventually(t, v1.ConditionFalse, func() v1.ConditionStatus { return ready(r.getNode(t)) })
	eventually(t, "NodeHasNoDiskPressure NodeHasSufficientMemory NodeHasSufficientPID NodeNotReady NodeReady Starting", func() string {
		return r.nodeEvents(t)
	})

	r.do(t, http.MethodPatch, "/api/v1/nodes/"+r.node, map[string]any{"metadata": map[string]any{"labels": map[string]string{"rack": "7"}}}, nil)
	eventually(t, "7", func() string { return m.object.Node().Labels["rack"] })

	r.do(t, http.MethodDelete, "/api/v1/nodes/"+r.node, nil, nil)
	eventually(t, true, func() bool { n := r.getNode(t); return n != nil && n.UID != there.UID && n.Labels["site"] == "north" })
	if again := r.getNode(t); again.Labels["rack"] != "" {
		t.Errorf("registered again with %v, which has labels that others gave the node before", again.Labels)
	}

	lease := &coordination.Lease{}
	eventually(t, r.node, func() string {
		if err := r.plane.Admin().Do(t.Context(), http.MethodGet, "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/"+r.node, nil, lease); err != nil {
			return err.Error()
		}
		return *lease.Spec.HolderIdentity
	})
	if *lease.Spec.LeaseDurationSeconds != 40 || len(lease.OwnerReferences) != 1 {
		t.Errorf("lease %+v of %+v", lease.Spec, lease.OwnerReferences)
	}
}

func TestMember_pods(t *testing.T) {
	t.Parallel()
	r := newRig(t, shared(t))
	m := r.member(t)
	eventually(t, v1.ConditionTrue, func() v1.ConditionStatus { return ready(r.getNode(t)) })
	r.add(t, "web", func(p *v1.Pod) { p.Spec.TerminationGracePeriodSeconds = new(int64(1)) })
	get := func() *v1.Pod { return r.listed(t)[r.space+"/web"] }
	phase := func() v1.PodPhase {
		if p := get(); p != nil {
			return p.Status.Phase
		}
		return "gone"
	}
	show := func(phase v1.PodPhase, running bool, conditions ...v1.PodCondition) {
		p := get()
		m.pods.set(p, phase, running, conditions...)
		m.Changed(p.UID)
	}
	held := v1.PodCondition{Type: api.ConditionAdmitted, Status: v1.ConditionFalse, Reason: "Held"}
	show(v1.PodPending, false, held)
	eventually(t, "Held", func() string {
		for _, c := range get().Status.Conditions {
			if c.Type == api.ConditionAdmitted {
				return c.Reason
			}
		}
		return ""
	})
	show(v1.PodRunning, true)
	eventually(t, v1.PodRunning, phase)
	for _, c := range get().Status.Conditions {
		if c.Type == api.ConditionAdmitted {
			t.Errorf("the condition %+v stays", c)
		}
	}

	r.remove(t, "web")
	show(v1.PodFailed, true)
	time.Sleep(200 * time.Millisecond) // nothing may happen
	if got := phase(); got != v1.PodRunning {
		t.Errorf("a pod whose container may run is %s", got)
	}
	show(v1.PodFailed, false)
	eventually(t, "gone", phase)
}

func TestMember_heldPodIsDeleted(t *testing.T) {
	t.Parallel()
	r := newRig(t, shared(t))
	m := r.member(t)
	m.pods.held = true
	eventually(t, v1.ConditionTrue, func() v1.ConditionStatus { return ready(r.getNode(t)) })
	for name, shown := range map[string]bool{"held": true, "not-judged": false} {
		r.add(t, name, func(p *v1.Pod) { p.Spec.TerminationGracePeriodSeconds = new(int64(1)) })
		r.remove(t, name)
		p := r.listed(t)[r.space+"/"+name]
		m.pods.set(p, v1.PodPending, false)
		if !shown {
			m.pods.forget(p.UID)
		}
		m.Changed(p.UID)
		eventually(t, false, func() bool { return r.listed(t)[r.space+"/"+name] != nil })
	}
}

// A status that could not be sent while the server was unreachable is sent once the server is back,
// only the newest of each pod. A pod that was deleted meanwhile causes no error.
func TestMember_outage(t *testing.T) {
	t.Parallel()
	r := newRig(t, shared(t))
	m := r.member(t)
	eventually(t, v1.ConditionTrue, func() v1.ConditionStatus { return ready(r.getNode(t)) })
	r.add(t, "web")
	r.add(t, "gone")
	web, gone := r.listed(t)[r.space+"/web"], r.listed(t)[r.space+"/gone"]
	r.net.Refuse()
	for _, phase := range []v1.PodPhase{v1.PodPending, v1.PodRunning} {
		for _, p := range []*v1.Pod{web, gone} {
			m.pods.set(p, phase, true)
			m.Changed(p.UID)
		}
	}
	r.purge(t, "gone")
	r.net.Mend()
	eventually(t, v1.PodRunning, func() v1.PodPhase { return r.listed(t)[r.space+"/web"].Status.Phase })
}

func newEvents(t *testing.T, r *rig) *cluster.Events {
	t.Helper()
	e := cluster.NewEvents(cluster.EventConfig{
		Client: r.client(t), Node: r.node, Owner: func(string) string { return "" }, Now: time.Now, Log: r.log(t),
	})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { e.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return e
}
