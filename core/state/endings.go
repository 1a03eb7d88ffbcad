package state

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

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
