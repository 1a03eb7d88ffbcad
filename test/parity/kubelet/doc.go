// Package kubelet drives the pod config of a real kubelet, pkg/kubelet/config of Kubernetes
// v1.36.3, from outside.
//
// Comes in: the contents of a kubelet's sources, as full snapshots. Goes out: the updates that its
// pod config sends to its sync loop. The goroutines are those of the pod config, one per source;
// Stop terminates them.
package kubelet
