package state

import (
	"time"

	v1 "k8s.io/api/core/v1"
)

// clusterNodeFile has the Node object as the cluster last had it.
const clusterNodeFile = "cluster-node.json"

// NodeMemory stores the Node object of the cluster.
type NodeMemory struct{ dir *Dir }

// NodeMemory returns the store of the Node object.
func (d *Dir) NodeMemory() NodeMemory { return NodeMemory{d} }

// Load returns the stored Node object, nil if there is none or it is corrupt. The error is the
// reason why it cannot be read.
func (m NodeMemory) Load() (*v1.Node, error) {
	n := &v1.Node{}
	found, err := m.dir.load(clusterNodeFile, n)
	if err != nil || !found {
		return nil, err
	}
	return n, nil
}

// Store stores the Node object. When it returns nil, the object is on the disk.
func (m NodeMemory) Store(n *v1.Node) error { return m.dir.store(clusterNodeFile, n) }

// shutdownFile has the times of the last shutdown of the machine.
const shutdownFile = "shutdown.json"

// Shutdown are the times of a shutdown of the machine for which pods were terminated.
type Shutdown struct {
	// Began is when the first pods were terminated, zero if there was no shutdown. Ended is when the
	// agent let the machine shut down, zero if it did not come to that.
	Began time.Time `json:"began,omitzero"`
	Ended time.Time `json:"ended,omitzero"`
}

// Shutdowns stores the last shutdown.
type Shutdowns struct{ dir *Dir }

// Shutdowns returns the store of the last shutdown.
func (d *Dir) Shutdowns() Shutdowns { return Shutdowns{d} }

// Load returns the last shutdown, the zero value if there was none or its file is corrupt. The error
// is the reason why it cannot be read.
func (s Shutdowns) Load() (Shutdown, error) {
	var last Shutdown
	if _, err := s.dir.load(shutdownFile, &last); err != nil {
		return Shutdown{}, err
	}
	return last, nil
}

// Store stores the last shutdown. When it returns nil, it is on the disk.
func (s Shutdowns) Store(last Shutdown) error { return s.dir.store(shutdownFile, last) }
