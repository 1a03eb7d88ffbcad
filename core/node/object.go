package node

import (
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// Object is the agent's node object, the only source for admission, policies, downward values, the
// API server's copy and `get node`. It is safe for concurrent use.
type Object struct {
	mu         sync.Mutex
	now        *v1.Node
	generation uint64
	changed    chan struct{}
}

// NewObject returns an object with the initial state n, which it owns.
func NewObject(n *v1.Node) *Object {
	return &Object{now: n, generation: 1, changed: make(chan struct{})}
}

// Get returns the current node and its generation, which grows with each change. The node is
// shared: it must not be modified.
func (o *Object) Get() (*v1.Node, uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.now, o.generation
}

// Node returns the current node, which must not be modified.
func (o *Object) Node() *v1.Node {
	now, _ := o.Get()
	return now
}

// Update calls change with a copy of the node, and stores the copy if it differs. It reports
// whether it differs.
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
