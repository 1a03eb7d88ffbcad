package policy

import (
	"errors"

	"github.com/wardlet/wardlet/core/state"
)

// batch is what is put on record together.
type batch struct {
	all []*recording
	// fresh are those that must be written, errs what came of that.
	fresh []*recording
	errs  []error
}

// write puts the batch on the disk, about the pods of one owner.
func (b *batch) write(into Records, tenant string) {
	entries := make([]state.DecisionEntry, len(b.fresh))
	for i, x := range b.fresh {
		entries[i] = x.entry
	}
	b.errs = into.Append(tenant, entries)
}

// err is a failure of the disk, nil where there is none.
func (b *batch) err() error {
	for _, err := range b.errs {
		if err != nil && !errors.Is(err, state.ErrTooLarge) {
			return err
		}
	}
	return nil
}
