// Package pleg compares Wardlet's lifecycle event generator with a kubelet's
// generic one on generated histories of a container runtime.
//
// Comes in: a seed. Goes out: where the two differ without a reason that
// docs/differences.md uses, and how often each reason was met. A comparison
// owns all goroutines and has ended them when it returns.
//
// A history is a list of seconds. In each, containers and sandboxes are made,
// started, end and are removed, pods vanish and come back, inspections and
// lists fail, and single pods are asked about out of turn. Both sides see the
// same runtime, ours without its events, and list it at the same instants of
// synctest's clock. After every list the events of each pod are compared in
// their order, and which pods were inspected, what the caches hold, and up to
// which time they answer.
package pleg
