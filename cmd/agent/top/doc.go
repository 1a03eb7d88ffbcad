// Package top is the command top of wardlet: the CPU and memory that pods and the node use now.
//
// Comes in: a command line, and the statistics of the agent on its local socket. Goes out: rows as of
// kubectl top, or objects of metrics.k8s.io. Start with Command. The package owns no goroutine.
package top
