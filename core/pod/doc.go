// Package pod is the vocabulary every other package speaks: documents as
// sources read them, changes as the mux emits them, the identity of a pod,
// and the pure rules over a pod (decoding, defaulting, validation, QoS).
//
// Comes in: bytes of a manifest. Goes out: immutable *v1.Pod values and the
// types that carry them. The package owns no goroutine and imports nothing of
// core.
//
// A pod is immutable from the moment a source made it: it is shared by every
// part of the agent and never copied on the way. Who needs another version
// makes one with DeepCopy.
package pod
