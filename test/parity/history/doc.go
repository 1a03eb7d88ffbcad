// Package history compares Wardlet's mux with the pod config of a kubelet on
// generated histories of three sources.
//
// Comes in: a seed. Goes out: where the two differ without a reason that
// docs/differences.md uses, and how often each reason was met. Run owns all
// goroutines and has ended them when it returns.
//
// A history is a list of deliveries: what a source holds at that moment, whole.
// The kubelet gets it as it is. Wardlet gets it twice, in two muxes: one is
// always given the whole, the other in half of the cases only the difference,
// and both must say the same. After every delivery the operations and the pods
// in them are compared, exactly. What a listed difference explains is left
// out, pod by pod, for as long as its cause lasts and no longer: the cause is
// looked for in what was delivered, not in what came of it, and when it is
// over both sides must have the same pod again.
package history
