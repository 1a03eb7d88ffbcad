package policy

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/resource"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// Node has functions that return the state of the node apart from running decisions. They
// may be called from several goroutines and do not block.
type Node struct {
	// Is returns the node's labels, and by resource the quantities that pods may use; nil
	// for a node that has neither. A returned map never changes.
	Is func() (labels, allocatable map[string]string)
	// Pods returns, in no order, the admitted pods that were handed on to run and have not
	// terminated.
	Pods func() []NodePod
	// Wanted reports whether a pod is still desired as this instance: it runs or waits.
	// An empty instance stands for any.
	Wanted func(uid types.UID, instance string) bool
	// Ended reports whether an admitted pod has run in this version and terminated; nil if
	// no pod terminates.
	Ended func(p *v1.Pod) bool
}

// NodePod is an admitted pod, and the name of its source.
type NodePod struct {
	Pod    *v1.Pod
	Source string
}

// nodeView has the admitted pods, also those that have not started yet. A decision that has
// seen them is valid only if they are still the same.
type nodeView struct {
	node *Node

	mu sync.Mutex
	// reserved are the admitted pods that are not yet among the pods of node.
	reserved map[types.UID]reservation
	// facts caches what plugins see of pods.
	facts map[types.UID]fact
	// exclusive is the decision that others wait for, nil for none.
	exclusive *exclusive
}

// reservation is an admitted pod in the version that is to run. instance is the instance
// that policies have judged, empty if it is not known. update marks a newer version of a
// running pod.
type reservation struct {
	NodePod
	instance string
	update   bool
}

// fact has what plugins see of a pod (pod), and the pod from which that was made (of).
type fact struct {
	of  *v1.Pod
	pod abi.NodePod
}

// view returns the node as it is now; nil if nothing is known of it.
func (n *nodeView) view() *eval.NodeView {
	if n.node == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.viewLocked()
}

// viewLocked is view with the lock held.
func (n *nodeView) viewLocked() *eval.NodeView {
	pods := n.dropStale()
	s := &eval.NodeView{Shown: map[string]*abi.NodeFacts{}}
	if n.node.Is != nil {
		s.Labels, s.Capacity = n.node.Is()
	}
	known := make(map[types.UID]fact, len(pods))
	for uid, p := range pods {
		f, ok := n.facts[uid]
		if !ok || f.of != p.Pod {
			f = fact{p.Pod, factOf(p)}
		}
		known[uid] = f
		s.Pods = append(s.Pods, f.pod)
	}
	n.facts = known
	slices.SortFunc(s.Pods, func(a, b abi.NodePod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
	return s
}

// dropStale drops stale reservations, and returns the pods of the node and of the other
// reservations. The lock is held.
func (n *nodeView) dropStale() map[types.UID]NodePod {
	pods := map[types.UID]NodePod{}
	for _, p := range n.node.Pods() {
		pods[p.Pod.UID] = p
	}
	for uid, r := range n.reserved {
		if n.isStale(r, pods[uid].Pod) {
			delete(n.reserved, uid)
			continue
		}
		pods[uid] = r.NodePod
	}
	return pods
}

// isStale reports whether a reservation is no longer needed: the pod is on the node in the
// admitted version, has terminated, or is no longer desired in that version. was is the
// version on the node, nil for none: without one, an update starts nothing.
func (n *nodeView) isStale(r reservation, was *v1.Pod) bool {
	switch {
	case was != nil && pod.SameInstance(was, r.Pod), was == nil && r.update:
		return true
	case n.node.Ended != nil && n.node.Ended(r.Pod):
		return true
	}
	return !n.node.Wanted(r.Pod.UID, r.instance)
}

// reserveIfCurrent makes a verdict visible to other decisions: an admitted pod is reserved.
// It returns false, and does nothing, if the node has changed since the decision saw it and
// the verdict is not a hold, or if ctx ends.
func (n *nodeView) reserveIfCurrent(ctx context.Context, d *eval.Decision, v *api.Verdict) bool {
	if n.node == nil {
		return true
	}
	q := eval.PassingQuestion(d.Request.Question, v)
	n.mu.Lock()
	defer n.mu.Unlock()
	for n.mustWait(d, q.Pod.UID, v.Answer) {
		if !n.wait(ctx) {
			return false
		}
	}
	if v.Answer != api.Hold && !n.current(d) {
		return false
	}
	if v.Answer != api.Allow {
		delete(n.reserved, q.Pod.UID)
		return true
	}
	n.reserve(q, d.Instance)
	return true
}

// Admitted reserves a version of a pod that was admitted before a restart and was not
// handed on yet: it is not judged again.
func (p *Engine) Admitted(q api.Question, v api.Verdict) {
	if len(v.References) > 0 {
		p.referring.note(q.Pod)
	}
	if n := &p.nodeView; n.node != nil && v.Answer == api.Allow {
		instance := p.instance(&q, nil)
		n.mu.Lock()
		defer n.mu.Unlock()
		n.reserve(eval.PassingQuestion(&q, &v), instance)
	}
}

// reserve makes a pod that passes visible to other decisions. The lock is held.
func (n *nodeView) reserve(q *api.Question, instance string) {
	if n.reserved == nil {
		n.reserved = map[types.UID]reservation{}
	}
	n.reserved[q.Pod.UID] = reservation{NodePod{q.Pod, q.Origin.Source}, instance, q.Op == api.UpdateOp}
}

// current reports whether policies would still be shown the same. For a decision that
// others wait for it returns true: a pod that terminates in the meantime only frees
// resources.
func (n *nodeView) current(d *eval.Decision) bool {
	if d.Seen == nil || n.exclusive != nil && n.exclusive.decision == d && n.exclusive.covers(d.Seen) {
		return true
	}
	now := n.viewLocked()
	for tenant, before := range d.Seen.Shown {
		same := func(a, b abi.NodePod) bool { return reflect.DeepEqual(a, b) }
		if !maps.Equal(before.Labels, now.Labels) || !maps.Equal(before.Allocatable, now.Capacity) ||
			!slices.EqualFunc(before.Pods, d.See(tenant, now).Pods, same) {
			return false
		}
	}
	return true
}

func factOf(p NodePod) abi.NodePod {
	f := abi.NodePod{
		Namespace: p.Pod.Namespace, Name: p.Pod.Name, UID: string(p.Pod.UID), Source: p.Source, Labels: p.Pod.Labels,
		Requests: map[string]string{},
	}
	if p.Pod.Spec.Priority != nil {
		f.Priority = *p.Pod.Spec.Priority
	}
	for name, amount := range resource.PodRequests(p.Pod, resource.PodResourcesOptions{}) {
		f.Requests[string(name)] = amount.String()
	}
	for c := range pod.Containers(p.Pod) {
		for _, port := range c.Ports {
			if port.HostPort != 0 {
				f.HostPorts = append(f.HostPorts, port.HostPort)
			}
		}
	}
	return f
}

// exclusive is a decision for which other decisions wait if they would change what it sees.
// There is one at a time, and it waits for none of the others.
type exclusive struct {
	decision *eval.Decision
	// tenant is the owner of the pods whose decisions wait, empty for all.
	tenant string
	over   chan struct{}
}

// acquire makes other decisions wait if they would change what this one has seen, or what
// it may see in another attempt.
func (n *nodeView) acquire(ctx context.Context, d *eval.Decision) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for n.exclusive != nil && n.exclusive.decision != d {
		if !n.wait(ctx) {
			return
		}
	}
	if n.exclusive == nil {
		n.exclusive = &exclusive{decision: d, tenant: d.Request.Tenant, over: make(chan struct{})}
	}
	if !n.exclusive.covers(d.Seen) {
		n.exclusive.tenant = ""
	}
}

// release lets other decisions continue.
func (n *nodeView) release(d *eval.Decision) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.exclusive != nil && n.exclusive.decision == d {
		close(n.exclusive.over)
		n.exclusive = nil
	}
}

// mustWait reports whether the answer to a decision must wait: it changes what an
// exclusive decision sees.
func (n *nodeView) mustWait(d *eval.Decision, uid types.UID, answer api.Answer) bool {
	if n.exclusive == nil || n.exclusive.decision == d || n.exclusive.tenant != "" && n.exclusive.tenant != d.Request.Tenant {
		return false
	}
	_, reserved := n.reserved[uid]
	return answer == api.Allow || reserved
}

// wait waits, without the lock, until the exclusive decision is released. It returns false
// if ctx ends before.
func (n *nodeView) wait(ctx context.Context) bool {
	over := n.exclusive.over
	n.mu.Unlock()
	defer n.mu.Lock()
	select {
	case <-over:
		return true
	case <-ctx.Done():
		return false
	}
}

// covers reports whether all decisions that could change what was shown have to wait.
func (a *exclusive) covers(s *eval.NodeView) bool {
	if s == nil {
		return true
	}
	for tenant := range s.Shown {
		if a.tenant != "" && a.tenant != tenant {
			return false
		}
	}
	return true
}

// readersPeriod is the interval at which the node is compared while pods wait because of
// what policies saw of it.
const readersPeriod = time.Second

// nodeWatchers signals that pods which policies held or denied after they saw the node may
// be judged differently, because the pods on the node have changed.
type nodeWatchers struct {
	// used reports that a policy has seen the node. waiting reports that a verdict of such
	// a policy has held or denied a pod since the last signal.
	used, waiting atomic.Bool
	changed       chan struct{}
}

// NodeChanged returns a channel that receives a value when the pods on the node have
// changed since policies that see the node held or denied a pod: that pod may now be judged
// differently. It receives at most one value a second.
func (p *Engine) NodeChanged() <-chan struct{} { return p.watchers.changed }

// add records a verdict.
func (r *nodeWatchers) add(v *api.Verdict) {
	if v.ReadsNode && !r.used.Load() {
		r.used.Store(true)
	}
	if v.ReadsNode && v.Answer != api.Allow {
		r.waiting.Store(true)
	}
}

// watchNode compares the node from time to time while policies see it. While none does,
// reservations are kept too: a policy that sees them may be added.
func (p *Engine) watchNode(ctx context.Context) {
	if p.nodeView.node == nil {
		return
	}
	every := time.NewTicker(readersPeriod)
	defer every.Stop()
	var before map[types.UID]*v1.Pod
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		if !p.watchers.used.Load() {
			p.nodeView.dropAllStale()
			continue
		}
		now := p.nodeView.present()
		same := maps.Equal(before, now)
		before = now
		if same || !p.watchers.waiting.Swap(false) {
			continue
		}
		select {
		case p.watchers.changed <- struct{}{}:
		default: // a pending signal is enough
		}
	}
}

// dropAllStale drops stale reservations.
func (n *nodeView) dropAllStale() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.reserved) > 0 {
		n.dropStale()
	}
}

// present returns the pods that decisions see now, each in its version.
func (n *nodeView) present() map[types.UID]*v1.Pod {
	n.view() // drops stale reservations
	n.mu.Lock()
	defer n.mu.Unlock()
	present := make(map[types.UID]*v1.Pod, len(n.facts))
	for uid, f := range n.facts {
		present[uid] = f.of
	}
	return present
}
