package policytest

import (
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/state"
)

// LastOpinions is a store of last opinions; see state.Opinions.
type LastOpinions interface {
	Load() ([]state.LastOpinions, []error)
	Apply(put []state.LastOpinions, remove []string) error
}

// OpinionDisk counts writes and can fail.
type OpinionDisk struct {
	LastOpinions
	Mu     sync.Mutex
	Writes []int
	At     []time.Time
	// Removed are the keys that the last write removed.
	Removed []string
	Err     error
}

// Apply records the write, and fails if Err is set.
func (d *OpinionDisk) Apply(put []state.LastOpinions, remove []string) error {
	d.Mu.Lock()
	defer d.Mu.Unlock()
	d.Writes, d.At, d.Removed = append(d.Writes, len(put)), append(d.At, time.Now()), remove
	if d.Err != nil {
		return d.Err
	}
	return d.LastOpinions.Apply(put, remove)
}
