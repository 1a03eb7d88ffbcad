package policy

import (
	"cmp"
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/resource"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// Node is what is known of the node beside the decisions under way. Its
// functions may be called from several goroutines and do not block.
type Node struct {
	Labels map[string]string
	// Allocatable are quantities by resource: what pods may use.
	Allocatable map[string]string
	// Pods are the pods that were admitted and handed on to run, and have not
	// ended, in no order.
	Pods func() []NodePod
	// Wanted reports whether a pod is still desired.
	Wanted func(uid types.UID) bool
}

// NodePod is an admitted pod, and the name of its source.
type NodePod struct {
	Pod    *v1.Pod
	Source string
}

// ledger knows which pods were admitted, also those that nobody has started yet,
// and lets a decision that has seen them count only if it saw the newest.
type ledger struct {
	node *Node

	mu sync.Mutex
	// generation counts what was admitted, and what of it was taken back.
	generation uint64
	// reserved are pods that were admitted and are not yet among the node's.
	reserved map[types.UID]NodePod
	// facts are what was made of pods before.
	facts map[types.UID]fact
}

// fact is what plugins see of a pod, and the pod it was made from.
type fact struct {
	of  *v1.Pod
	pod wasm.NodePod
}

// sight is what a decision sees of the node, and when.
type sight struct {
	generation uint64
	labels     map[string]string
	capacity   map[string]string
	pods       []wasm.NodePod
}

// look gives what is known now; nil where nothing is known of the node.
func (l *ledger) look() *sight {
	if l.node == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	running := map[types.UID]NodePod{}
	for _, p := range l.node.Pods() {
		running[p.Pod.UID] = p
	}
	for uid, p := range l.reserved {
		if was, ok := running[uid]; ok && pod.SameInstance(was.Pod, p.Pod) || !l.node.Wanted(uid) {
			delete(l.reserved, uid)
			continue
		}
		running[uid] = p
	}
	s := &sight{generation: l.generation, labels: l.node.Labels, capacity: l.node.Allocatable}
	known := make(map[types.UID]fact, len(running))
	for uid, p := range running {
		f, ok := l.facts[uid]
		if !ok || f.of != p.Pod {
			f = fact{p.Pod, factOf(p)}
		}
		known[uid] = f
		s.pods = append(s.pods, f.pod)
	}
	l.facts = known
	slices.SortFunc(s.pods, func(a, b wasm.NodePod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
	return s
}

// commit makes an answer about a pod one that others see: one that lets it pass
// reserves what it asks for. It gives false, and does nothing, where that was
// decided by what has been seen of the node, and that is not the newest.
func (l *ledger) commit(q *pod.Question, answer pod.Answer, seen *sight) bool {
	if l.node == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if answer != pod.Allow {
		if _, was := l.reserved[q.Pod.UID]; was {
			delete(l.reserved, q.Pod.UID)
			l.generation++
		}
		return true
	}
	if seen != nil && seen.generation != l.generation {
		return false
	}
	if l.reserved == nil {
		l.reserved = map[types.UID]NodePod{}
	}
	l.reserved[q.Pod.UID] = NodePod{q.Pod, q.Origin.Source}
	l.generation++
	return true
}

// of is what the policies of an owner see: those of a tenant only its own pods.
func (s *sight) of(tenant string, owns func(namespace string) string) *wasm.NodeFacts {
	if s == nil {
		return nil
	}
	f := &wasm.NodeFacts{Labels: s.labels, Allocatable: s.capacity, Pods: s.pods}
	if tenant != "" {
		f.Pods = slices.DeleteFunc(slices.Clone(s.pods), func(p wasm.NodePod) bool { return owns(p.Namespace) != tenant })
	}
	return f
}

func factOf(p NodePod) wasm.NodePod {
	f := wasm.NodePod{
		Namespace: p.Pod.Namespace, Name: p.Pod.Name, UID: string(p.Pod.UID), Source: p.Source, Labels: p.Pod.Labels,
		Requests: map[string]string{},
	}
	if p.Pod.Spec.Priority != nil {
		f.Priority = *p.Pod.Spec.Priority
	}
	for name, amount := range resource.PodRequests(p.Pod, resource.PodResourcesOptions{}) {
		f.Requests[string(name)] = amount.String()
	}
	for _, containers := range [][]v1.Container{p.Pod.Spec.InitContainers, p.Pod.Spec.Containers} {
		for i := range containers {
			for _, port := range containers[i].Ports {
				if port.HostPort != 0 {
					f.HostPorts = append(f.HostPorts, port.HostPort)
				}
			}
		}
	}
	return f
}
