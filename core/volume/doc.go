// Package volume makes and removes the directory of a pod and the volumes in
// it: emptyDir on disk or in memory, hostPath, and files that the agent writes, of
// objects of an API server and of fields of the pod.
//
// Comes in: a pod (Setup), a container of it (Mounts), a UID (Teardown,
// Remove). Goes out: directories and mounts below the pod root, also of the parts
// of volumes that containers mount, and host paths for the runtime. The package owns no goroutine. Calls may come from several
// at once; only Setup must not meet a Teardown or Remove of the same pod.
//
// What is inside a volume was written by a workload: it is never followed,
// opened or trusted.
package volume
