// Package volume makes and removes the directory of a pod and the volumes in it: emptyDir on disk
// or in memory, hostPath, and files that the agent writes from API objects and from fields of the
// pod.
//
// Input: a pod (Setup), a container of it (Mounts), a UID (Teardown, Remove). Output: directories
// and mounts below the pod root, also for subpaths of volumes that containers mount, and host paths
// for the runtime. The package owns no goroutine. Calls may be concurrent, except that Setup must
// not run at the same time as Teardown or Remove of the same pod.
//
// The content of a volume was written by a workload: it is never followed, opened or trusted.
package volume
