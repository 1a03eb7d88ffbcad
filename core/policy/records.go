package policy

import "github.com/wardlet/wardlet/core/state"

// Records keeps decisions over restarts; *state.DecisionLog does.
type Records interface {
	// Append puts records about one owner's pods on the disk and gives each an ID.
	// What comes back is an error for each, nil for one that is on the disk.
	Append(tenant string, entries []state.DecisionEntry) []error
	// Counted says how often decisions have been repeated; it need not be durable.
	Counted(tenant string, counts []state.DecisionCount) error
	// KeepFiles puts the files of a set of policies on the disk, by digest.
	KeepFiles(tenant string, files map[string][]byte) error
	// Newest are the newest records of each owner's pods.
	Newest(most int) ([]state.DecisionRecord, error)
}

var _ Records = (*state.DecisionLog)(nil)
