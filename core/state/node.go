package state

import v1 "k8s.io/api/core/v1"

// clusterNodeFile holds the node as its cluster had it last.
const clusterNodeFile = "cluster-node.json"

// NodeMemory keeps what a cluster gave the node.
type NodeMemory struct{ dir *Dir }

// NodeMemory is the store of what the cluster gave the node.
func (d *Dir) NodeMemory() NodeMemory { return NodeMemory{d} }

// Load reads the node as its cluster had it last; nil if that was never stored or is corrupt. The error says why it
// cannot be read.
func (m NodeMemory) Load() (*v1.Node, error) {
	n := &v1.Node{}
	found, err := m.dir.load(clusterNodeFile, n)
	if err != nil || !found {
		return nil, err
	}
	return n, nil
}

// Store keeps the node. When it returns nil that is on the disk.
func (m NodeMemory) Store(n *v1.Node) error { return m.dir.store(clusterNodeFile, n) }
