// Command podconfig puts a load on Wardlet's mux or on the pod config of a
// kubelet and prints what that costs, as JSON. Each run measures one side and
// one load, in a process of its own.
//
// Comes in: flags. Goes out: one line of JSON. Its goroutines are those of the
// side it measures; the process ends with them.
//
// # What is fair
//
// Both sides get pods that are there already, in the form their sources keep
// them in; making them is not measured. A kubelet's source can only send a
// snapshot, so it does; the slice is there already and all pods but the changed
// one are the very same objects, which a kubelet compares fastest. Ours sends
// the difference, which is one document. A change ends when the receiver has
// the UPDATE and has looked at it.
//
// Peak memory is what the process needs in resident memory beyond what it had
// with all pods made, until the receiver has the ADDs and keeps them, as both
// sync loops do. The collector runs as it does by default. What the two keep
// of the pods is part of it: a kubelet a deep copy for its sync loop, ours the
// shared pods and an index.
package main
