// Package clusterset brings a set of policies from a ConfigMap of the node's cluster to the disk.
//
// Comes in: a ConfigMap, each key of which is a file of the set. Goes out: a directory with these
// files, and a call when another set is in it. The package does not look into the files: the reader of
// the directory verifies their signature, because the ConfigMap may contain anything. The last set stays on the disk while the cluster is away, and when the ConfigMap is gone.
//
// Set.Run is one goroutine, and those of a watch, which end with it.
package clusterset
