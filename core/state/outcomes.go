package state

import (
	"errors"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

// outcomesDir is the directory of outcomes.
const outcomesDir = "outcomes"

// Outcome is the phase of a terminated pod, and the restart counts of a pod's containers. The
// runtime may lose these values, but a restart of the agent must not.
type Outcome struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	UID       types.UID `json:"uid"`
	// Source is the name of the pod's source, empty if it has none.
	Source string `json:"source,omitempty"`
	// Instance is the instance of the pod's newest version, see pod.Instance. It is empty for pods
	// of an API server, which never uses a UID twice.
	Instance string `json:"instance,omitempty"`
	// FirstSeen is the time when the agent first saw the pod. The outcome applies to all versions
	// of that pod. If FirstSeen is zero, because the time is not known, only Instance identifies
	// the pod.
	FirstSeen time.Time `json:"firstSeen,omitzero"`
	// Status has a phase only if the pod has terminated. It has the restart counts of the
	// containers and, for a terminated pod, their terminated states. It has the start time of a pod
	// that has terminated or has an active deadline.
	Status v1.PodStatus `json:"status"`
	// Started is Status.StartTime by a clock that is never set. It is nil if that time is not known
	// or not needed.
	Started *BootTime `json:"started,omitempty"`
}

// BootTime is a time measured from a boot of the machine.
type BootTime struct {
	// Boot is the boot's ID.
	Boot string `json:"boot"`
	// Since is the time since the boot, in nanoseconds. It is negative for times before the boot.
	Since time.Duration `json:"since"`
}

// Outcomes stores one outcome per UID.
type Outcomes = Table[types.UID, Outcome, *Outcome]

// Outcomes returns the store of outcomes.
func (d *Dir) Outcomes() Outcomes { return Outcomes{d, outcomesDir} }

func (o *Outcome) String() string {
	return fmt.Sprintf("outcome of pod %s/%s, uid %s", o.Namespace, o.Name, o.UID)
}

func (o *Outcome) key() types.UID { return o.UID }

// usable returns an error if the agent cannot use the outcome.
func (o *Outcome) usable() error {
	if o.UID == "" {
		return errors.New("it names no pod")
	}
	if phase := o.Status.Phase; phase != "" && !pod.IsTerminal(phase) {
		return fmt.Errorf("the phase %q is no end", phase)
	}
	for c := range pod.Statuses(&o.Status) {
		if c.Name == "" {
			return errors.New("a container has no name")
		}
		if c.RestartCount < 0 {
			return fmt.Errorf("container %s was restarted %d times", c.Name, c.RestartCount)
		}
	}
	return nil
}

// endingsDir is the directory of endings.
const endingsDir = "endings"

// Ending is a terminating pod. If the agent is restarted meanwhile, the pod keeps the rest of its
// grace period.
type Ending struct {
	UID types.UID `json:"uid"`
	// Seen is the time when the terminating pod was first seen, because another pod may follow with
	// its UID.
	Seen time.Time `json:"seen"`
	// Grace is the grace period of its containers, in nanoseconds, from Began on. Since is Began by
	// a clock that is never set, nil if that is not known.
	Grace time.Duration `json:"grace"`
	Began time.Time     `json:"began"`
	Since *BootTime     `json:"since,omitempty"`
}

// Endings stores one ending per UID.
type Endings = Table[types.UID, Ending, *Ending]

// Endings returns the store of endings.
func (d *Dir) Endings() Endings { return Endings{d, endingsDir} }

func (e *Ending) String() string { return fmt.Sprintf("end of pod with uid %s", e.UID) }

func (e *Ending) key() types.UID { return e.UID }

// usable returns an error if the agent cannot use the ending.
func (e *Ending) usable() error {
	switch {
	case e.UID == "":
		return errors.New("it names no pod")
	case e.Grace < 0:
		return fmt.Errorf("a grace period of %s is none", e.Grace)
	}
	return nil
}
