package state

import v1 "k8s.io/api/core/v1"

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
