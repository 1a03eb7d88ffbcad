// Command relist makes full lists of an unchanged node, with Wardlet's lifecycle event generator or
// a kubelet's generic one, and prints the cost of one list, as JSON. Each run measures one side, in
// a process of its own.
//
// Comes in: flags. Goes out: one line of JSON. Its goroutines are those of the side it measures;
// they run until the process exits.
//
// # What is fair
//
// Both sides get prepared lists of the same pods, in the form that their own runtimes return: one
// sandbox and two containers each. Preparing the lists is not measured, nor is the cost of the
// runtime's protocol. No state changes, as in nearly every list of a real node. The kubelet's list
// is called directly. Ours is requested from its own goroutine, and the program waits for it. The
// kubelet's metrics are not registered, so that they cost next to nothing.
package main
