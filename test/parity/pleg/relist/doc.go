// Command relist makes full lists of an unchanged node, with Wardlet's
// lifecycle event generator or a kubelet's generic one, and prints what one
// costs, as JSON. Each run measures one side, in a process of its own.
//
// Comes in: flags. Goes out: one line of JSON. Its goroutines are those of the
// side it measures; the process ends with them.
//
// # What is fair
//
// Both sides get lists that are there already, in the form their own runtimes
// hand over, of the same pods: one sandbox and two containers each. Making
// them is not measured, nor is what the runtime's protocol costs. No state
// changes, which is what nearly every list finds. The kubelet's list is called
// directly; ours is asked of its own goroutine, and waited for. The kubelet's
// metrics are not registered, so that they cost next to nothing.
package main
