// Package eviction compares core/eviction with a kubelet's eviction manager: how thresholds are
// parsed, when they are met, which conditions follow, which pod is evicted with which message and
// grace period, and which pods are admitted under pressure.
//
// Comes in: random thresholds, nodes and pods, made from a seed. Goes out: only a verdict. The
// differences are in docs/differences.md: signals that only a kubelet accepts, inodes of pods that
// request storage, pods without statistics, and the order of equal pods. No world has them.
package eviction
