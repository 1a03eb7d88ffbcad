// Package workers compares Wardlet's pod workers with a kubelet's on generated
// histories of what sources, the runtime and people ask of them.
//
// Comes in: a seed. Goes out: where the two differ without a reason that
// docs/differences.md uses, and how often each reason was met. A comparison
// owns all goroutines and has ended them when it returns.
//
// A history is a list of steps. In each, pods are created, changed, killed,
// evicted and created again, appear in the runtime, end by themselves, become
// unwanted, and the calls that set up, stop and clean up a pod begin to fail,
// to hang or to work. After every step all queries of the workers are compared,
// what Known returns, which pods were to be set up, which call hangs, and with
// which grace period and status a pod was stopped.
//
// A kubelet's constructor of workers is not exported. So a program is made of
// testdata/theirs and of the files that both sides share (script.go, world.go):
// an overlay of go test lays those beside it, and they reach the constructor by
// its name. It plays histories that come in over its input. Ours are played
// first; they decide what of a history makes sense: see play.go.
package workers
