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

// write puts the batch on the disk.
func (b *batch) write(into Records) {
	b.errs = make([]error, len(b.fresh))
	places := map[string][]int{}
	for i, x := range b.fresh {
		places[x.decision.Tenant] = append(places[x.decision.Tenant], i)
	}
	for tenant, at := range places {
		entries := make([]state.DecisionEntry, len(at))
		for j, i := range at {
			entries[j] = b.fresh[i].entry
		}
		for j, err := range into.Append(tenant, entries) {
			b.errs[at[j]] = err
		}
	}
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
