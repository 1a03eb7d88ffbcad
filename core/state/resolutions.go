package state

import (
	"errors"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

// resolutionsDir is the directory of answers to conflicts.
const resolutionsDir = "resolutions"

// Resolution is a merge policy's answer to a conflict.
type Resolution struct {
	Identity types.NamespacedName `json:"identity"`
	// Key identifies the set of candidates to which the answer applies.
	Key        string         `json:"key"`
	Resolution api.Resolution `json:"resolution"`
}

// Resolutions stores one answer per identity.
type Resolutions = Table[types.NamespacedName, Resolution, *Resolution]

// Resolutions returns the store of answers to conflicts.
func (d *Dir) Resolutions() Resolutions { return Resolutions{d, resolutionsDir} }

func (r *Resolution) String() string { return "answer to the conflict about " + r.Identity.String() }

func (r *Resolution) key() types.NamespacedName { return r.Identity }

func (r *Resolution) usable() error {
	if r.Identity.Name == "" || r.Identity.Namespace == "" {
		return errors.New("it is about no pod")
	}
	return nil
}
