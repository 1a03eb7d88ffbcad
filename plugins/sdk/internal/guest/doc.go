// Package guest is what a plugin knows of itself between the agent's calls:
// the fields it declared, what is to be done at its start, the record of the
// pod that is being judged, and memory for what a call makes.
//
// Comes in: declarations while packages initialise, then calls of the agent:
// Init once, and Begin before each hook. Goes out: the fields' values. There
// is one state for the whole module, and one goroutine at a time uses it: the
// one that carries the agent's call. In a test that is sdktest's to see to.
//
// After a call the agent puts back every page of memory that was written to,
// and each costs it time. So what a call writes lies together: fetched fields
// and texts go behind the record, into the rest of the input area, and the
// heap is used only when that is full.
package guest
