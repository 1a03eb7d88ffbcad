// Package stats compares /metrics/resource with that of a kubelet: the kubelet's own collector gets
// the summary that core/stats makes, and must write the same text.
//
// Comes in: random machines, cgroups and pods, made from a seed. Goes out: only a verdict; there are
// no differences.
package stats
