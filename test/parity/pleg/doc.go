// Package pleg compares Wardlet's lifecycle event generator with a kubelet's generic one on
// generated histories of a container runtime.
//
// Comes in: a seed. Goes out: where the two differ without a reason that docs/differences.md lists,
// and how often each reason was met. A comparison owns all goroutines; they have terminated when it
// returns.
//
// A history is a list of seconds. In each second, containers and sandboxes are created, started,
// stopped and removed, pods vanish and come back, inspections and lists fail, and single pods are
// asked about between lists. Both sides see the same runtime, ours without its events, and list it
// at the same instants of synctest's clock. After every list, the following are compared: the
// events of each pod in their order, the inspected pods, the contents of the caches, and the time
// up to which the caches answer.
package pleg
