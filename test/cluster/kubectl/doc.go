// Package kubectl has tests of what people do with kubectl on a cluster whose node is Wardlet, each with the agent
// killed in the middle of it. They run on a real control plane with controller manager and scheduler, and a real
// containerd. With -kubelet a real kubelet is the node: the same must hold then.
package kubectl
