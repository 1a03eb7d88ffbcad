// Package stats measures the resources that the node, its pods and their containers use.
//
// Comes in: the pods that the agent last observed, the statistics of the runtime, the counters of
// the kernel (core/stats/kernel), and the pods with emptyDirs. Goes out: a reading, and from it what
// a kubelet serves: the summary of /stats/summary, and the metrics of /metrics/resource and
// /metrics/cadvisor.
//
// A reading is made when it is asked for, on the goroutine of the caller, and shared by all callers
// for five seconds. So nothing is measured while there is no reader, and ten clients cost as much as one.
// CPU usage per second comes from two readings, unless the runtime has it.
//
// A reading does not depend on the runtime: if it does not answer in time, the kernel's counters for
// the pods' cgroups replace its answer. The files of emptyDirs are counted by Run, the only goroutine
// here, after a reading has asked for them. All methods are safe for concurrent use.
package stats
