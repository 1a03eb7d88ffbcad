// Package instance runs a cluster of one node on this machine for tests: a control plane, a containerd with a network
// for pods, and as the node wardlet or the real kubelet.
//
// Comes in: which node agent. Goes out: where everything is, and kubectl. The scripts of test/conformance start what
// runs; an Instance owns it until Down. tools/setup.sh conformance builds what they need.
package instance
