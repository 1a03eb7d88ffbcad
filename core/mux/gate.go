package mux

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

// Gate decides which changes may pass. Without one all do.
type Gate interface {
	// Judge takes a question and returns at once. answer is called once, by any
	// goroutine and at any time, or never if the gate stops first. It does not
	// block.
	Judge(q api.Question, answer func(api.Verdict))
	// Admitted says that a version which goes on waiting, for the filter, was let
	// through before a restart: nothing is asked about it. It does not block.
	Admitted(q api.Question, v api.Verdict)
	// Changed has a value when other policies are in force than before:
	// everything that was held or denied is then asked again.
	Changed() <-chan struct{}
	// NodeChanged has a value when other pods are on the node than before:
	// everything that was held or denied by a verdict that has seen them is then
	// asked again.
	NodeChanged() <-chan struct{}
}

// Waits receives the versions that policy does not let through. The goroutine of
// Run calls it, after the verdict is on the disk; it must not block. Pods are
// known by the UID that shows the wait: that of the pod that runs on, or that of
// the waiting one if none runs.
type Waits interface {
	// Waits says that a version waits, and again at every later verdict.
	Waits(w api.Waiting)
	// Passed says that nothing of the pod waits any more.
	Passed(uid types.UID)
	// Gone says the same of a pod that was never handed on and is not wanted
	// any more.
	Gone(uid types.UID)
}

// noWaits is a Waits that does nothing.
type noWaits struct{}

func (noWaits) Waits(api.Waiting) {}
func (noWaits) Passed(types.UID)  {}
func (noWaits) Gone(types.UID)    {}
