// Package pod is pure rules over a pod: its identity and instance, what differs between
// two versions, its class, its directories, what it was made from.
//
// Comes in: a *v1.Pod. Goes out: answers. The package owns no goroutine and imports nothing
// of core.
//
// A pod is immutable from the moment a source made it: it is shared by every
// part of the agent and never copied on the way. Who needs another version
// makes one with DeepCopy.
package pod
