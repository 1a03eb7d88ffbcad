// Package guest is what a plugin knows of itself between the agent's calls:
// the fields it declared, what is to be done at its start, and the record of
// the pod that is being judged.
//
// Comes in: declarations while packages initialise, then calls of the agent:
// Init once, and Begin before each hook. Goes out: the fields' values. There
// is one state for the whole module, and one goroutine at a time uses it: the
// one that carries the agent's call. In a test that is sdktest's to see to.
package guest
