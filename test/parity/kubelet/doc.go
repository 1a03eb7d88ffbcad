// Package kubelet drives the pod config of a real kubelet, pkg/kubelet/config
// of Kubernetes v1.36.3, from outside.
//
// Comes in: what the sources of a kubelet hold, as full snapshots. Goes out:
// what its pod config hands to its sync loop. The goroutines are those of the
// pod config, one per source; Stop ends them.
package kubelet
