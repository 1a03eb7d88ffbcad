// Package guest has the state of a plugin: the declared fields, the functions to call at
// its start, the record of the judged pod, and memory for values that a call makes.
//
// Comes in: declarations while packages initialise, then calls of the agent: Init once, and
// Begin before each hook. Goes out: the fields' values. There is one state for the whole
// module. One goroutine at a time uses it: in a module, the goroutine of the agent's call.
// In a test, sdktest ensures this.
//
// After a call the agent resets every page of memory that was written to, and each page
// takes time. So a call writes to as few pages as possible: fetched fields and texts are
// stored after the record, in the rest of the input area. The heap is used only if the area
// is full.
package guest
