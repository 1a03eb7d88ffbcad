package signed

import "fmt"

// NextRevision returns the revision of a set that is signed again: want or, if want is 0,
// the one after the revision of the current manifest. If there is no manifest (nil), that
// is 1. The revision never goes back, because an agent that accepted a revision refuses
// lower ones. file is the manifest's name in errors.
func NextRevision(file string, manifest []byte, want uint64) (uint64, error) {
	if want > MaxRevision {
		return 0, fmt.Errorf("the revision %d is too great; at most %d is possible", want, MaxRevision)
	}
	if manifest == nil {
		return max(want, 1), nil
	}
	old, err := ParseManifest(file, manifest)
	switch {
	case err != nil && want > 0:
		return want, nil
	case err != nil:
		return 0, fmt.Errorf("the revision so far cannot be told; name the new one with --revision:\n%w", err)
	case want == 0 && old.Revision == MaxRevision:
		return 0, fmt.Errorf("%s has the greatest revision there is; no agent that accepted it takes another set, unless its operator rolls back; name that one again with --revision %d", file, old.Revision)
	case want == 0:
		return old.Revision + 1, nil
	case want < old.Revision:
		return 0, fmt.Errorf("%s has revision %d, and an agent that accepted it refuses %d; sign with %d or more, or remove that file first", file, old.Revision, want, old.Revision)
	}
	return want, nil
}
