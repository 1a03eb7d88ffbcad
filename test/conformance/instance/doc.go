// Package instance runs a cluster of one node on this machine for tests: a control plane, a
// containerd with a network for pods, and either wardlet or the real kubelet as the node.
//
// Its input is the choice of the node agent. Its outputs are the paths of everything, and kubectl.
// The scripts of test/conformance start the programs; an Instance owns them until Down.
// tools/setup.sh conformance builds what they need.
package instance
