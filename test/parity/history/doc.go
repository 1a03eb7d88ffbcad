// Package history compares Wardlet's mux with the pod config of a kubelet on generated histories of
// three sources.
//
// Comes in: a seed. Goes out: where the two differ without a reason that docs/differences.md lists,
// and how often each reason was met. Run owns all goroutines; they have terminated when Run
// returns.
//
// A history is a list of deliveries. A delivery is the full content of a source at that moment. The
// kubelet gets every delivery unchanged. Wardlet gets it twice, in two muxes: one always gets the
// full content, the other gets only the difference in half of the cases, and both must report the
// same. After every delivery the operations and the pods in them are compared exactly. A pod that a
// listed difference explains is left out only as long as the cause of the difference lasts. The
// cause is searched in the deliveries, not in their results. When the cause no longer holds, both
// sides must have the same pod again.
package history
