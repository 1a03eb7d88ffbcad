// Package adopt lets static pods that a kubelet has started run on.
//
// Comes in: the documents of a source, and the pods of the runtime. Goes out: the same documents; a
// pod that a kubelet has started from the same manifest has the UID that the kubelet gave it, so that
// the agent finds its containers, and a kubelet that comes back finds them, too. A kubelet derives the
// UID from its own data types, which only its own code can repeat. Which document has which UID is on
// the disk: it stays after a reboot, and ends with the next change of the document, or when a kubelet
// that was back runs the pod with another UID.
//
// The package has no goroutine. Sources call it.
package adopt
