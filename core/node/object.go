package node

import (
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// Object is what the agent knows of its node: the one object that admission, policies, downward values, the API
// server's copy and `get node` are made from. It is safe for concurrent use.
type Object struct {
	mu         sync.Mutex
	now        *v1.Node
	generation uint64
	changed    chan struct{}
}

// NewObject returns an object that begins as n, which it owns from then on.
func NewObject(n *v1.Node) *Object {
	return &Object{now: n, generation: 1, changed: make(chan struct{})}
}

// Get returns the node as it is now and its generation, which grows with each change. The node is shared: it must not
// be changed.
func (o *Object) Get() (*v1.Node, uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.now, o.generation
}

// Node returns the node as Get does.
func (o *Object) Node() *v1.Node {
	now, _ := o.Get()
	return now
}

// Update has change edit a copy of the node, which takes the place of the node if it differs. It reports whether.
func (o *Object) Update(change func(*v1.Node)) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	next := o.now.DeepCopy()
	change(next)
	if equality.Semantic.DeepEqual(o.now, next) {
		return false
	}
	o.now = next
	o.generation++
	close(o.changed)
	o.changed = make(chan struct{})
	return true
}

// Changed returns a channel that is closed with the next change.
func (o *Object) Changed() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.changed
}
