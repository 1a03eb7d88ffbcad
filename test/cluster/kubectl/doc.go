// Package kubectl tests what people do with kubectl on a cluster whose node is Wardlet. Each test
// kills the agent in the middle. The tests run on a real control plane with controller manager and
// scheduler, and a real containerd. With -kubelet the node is a real kubelet, for which the same
// must hold.
package kubectl
