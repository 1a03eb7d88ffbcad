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

// Outcome is how a pod has fared: how it ended, if it has, and how often its
// containers were restarted. The runtime may lose that; a restart must not.
type Outcome struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	UID       types.UID `json:"uid"`
	// Source is the name of the pod's source, empty where it has none.
	Source string `json:"source,omitempty"`
	// Instance is that of the pod's newest version, see pod.Instance. It is empty
	// for pods of an API server, whose UIDs are never given twice.
	Instance string `json:"instance,omitempty"`
	// FirstSeen is when the agent first saw the pod, of which this is how all its
	// versions fare; zero where that is not known, and only Instance tells.
	FirstSeen time.Time `json:"firstSeen,omitzero"`
	// Status has a phase only if the pod has ended. Of its containers it has
	// the restart counts and, of a pod that has ended, their ends. It has the
	// start time of a pod that has ended, or that has an active deadline.
	Status v1.PodStatus `json:"status"`
	// Started is Status.StartTime by a clock that is never set. It is nil if that
	// was not known, or does not matter.
	Started *BootTime `json:"started,omitempty"`
}

// BootTime is a moment by the clock that a boot of the machine begins.
type BootTime struct {
	// Boot is the boot's ID.
	Boot string `json:"boot"`
	// Since is the time since the machine booted, in nanoseconds. It is less than
	// 0 for what was before.
	Since time.Duration `json:"since"`
}

// Outcomes keeps one outcome per UID.
type Outcomes = Table[types.UID, Outcome, *Outcome]

// Outcomes is the store of outcomes.
func (d *Dir) Outcomes() Outcomes { return Outcomes{d, outcomesDir} }

func (o *Outcome) String() string {
	return fmt.Sprintf("outcome of pod %s/%s, uid %s", o.Namespace, o.Name, o.UID)
}

func (o *Outcome) key() types.UID { return o.UID }

// usable says what keeps the agent from going on with an outcome.
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

// Ending is a pod that is being ended. An agent that starts meanwhile grants it the rest
// of its grace period.
type Ending struct {
	UID types.UID `json:"uid"`
	// Seen is when the pod that ends was first seen: another one may come under its UID.
	Seen time.Time `json:"seen"`
	// Grace is the grace period of its containers, in nanoseconds, from Began on. Since is
	// Began by a clock that is never set, nil if that was not known.
	Grace time.Duration `json:"grace"`
	Began time.Time     `json:"began"`
	Since *BootTime     `json:"since,omitempty"`
}

// Endings keeps one ending per UID.
type Endings = Table[types.UID, Ending, *Ending]

// Endings is the store of endings.
func (d *Dir) Endings() Endings { return Endings{d, endingsDir} }

func (e *Ending) String() string { return fmt.Sprintf("end of pod with uid %s", e.UID) }

func (e *Ending) key() types.UID { return e.UID }

// usable says what keeps the agent from going on with an ending.
func (e *Ending) usable() error {
	switch {
	case e.UID == "":
		return errors.New("it names no pod")
	case e.Grace < 0:
		return fmt.Errorf("a grace period of %s is none", e.Grace)
	}
	return nil
}
