// Command podconfig puts a load on Wardlet's mux or on the pod config of a kubelet and prints the
// cost, as JSON. Each run measures one side and one load, in a process of its own.
//
// Comes in: flags. Goes out: one line of JSON. Its goroutines are those of the side it measures;
// they run until the process exits.
//
// # What is fair
//
// Both sides get prepared pods, in the form in which their sources keep them; preparing them is not
// measured. A kubelet's source can only send a snapshot. The slice of the snapshot is prepared, and
// all pods but the changed one are the very same objects, which a kubelet compares fastest. Ours
// sends the difference, which is one document. A change ends when the receiver has received the
// UPDATE and has looked at it.
//
// Peak memory is how much the resident memory of the process grows, from when all pods are made
// until the receiver has received the ADDs and keeps them, as both sync loops do. The garbage
// collector runs with its defaults. Peak memory includes what the two keep of the pods: a kubelet a
// deep copy for its sync loop, ours the shared pods and an index.
package main
