// Package workers compares Wardlet's pod workers with a kubelet's on generated histories of
// requests from sources, the runtime and users.
//
// Comes in: a seed. Goes out: where the two differ without a reason that docs/differences.md lists,
// and how often each reason was met. A comparison owns all goroutines; they have terminated when it
// returns.
//
// A history is a list of steps. In each step, pods are created, changed, killed, evicted and
// created again, appear in the runtime, terminate by themselves or become unwanted. The calls that
// set up, stop and clean up a pod begin to fail, to hang or to work. After every step the following
// are compared: all queries of the workers, the result of Known, which pods were to be set up,
// which call hangs, and with which grace period and status a pod was stopped.
//
// A kubelet's constructor of workers is not exported. So a program is built from testdata/theirs
// and from the files that both sides share (script.go, world.go). An overlay of go test adds those
// files to the package, which links the constructor by its name. The program plays histories that
// it reads from its input. Ours are played first, because they decide which wishes of a history
// make sense: see play.go.
package workers
