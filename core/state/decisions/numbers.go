package decisions

import "fmt"

// recordNumbers detects missing records of one owner. Records are numbered, the oldest are removed
// first to make room, and lineGap has the numbers that were used up without a record.
type recordNumbers struct {
	owner string
	// last is the number up to which all missing records are explained or reported. known is false
	// until last is set, because older records may have been removed.
	last  uint64
	known bool
	// damaged: records that are missing now may be those of a damage that was already reported.
	damaged bool
}

// segment starts a segment, which is named after its first record.
func (n *recordNumbers) segment(first uint64) {
	if !n.known {
		n.last, n.known = first-1, true
	}
}

// gap records that numbers were used up without a record.
func (n *recordNumbers) gap(last uint64) { n.last = max(n.last, last) }

// record records the next record, and returns an error if records before it are missing.
func (n *recordNumbers) record(id string) error {
	owner, number, err := partsOfID(id)
	if err != nil || owner != n.owner {
		return fmt.Errorf("%q is no ID of a record here", id)
	}
	from, damaged := n.last+1, n.damaged
	n.last, n.damaged = max(n.last, number), false
	switch {
	case number <= from || damaged:
		return nil
	case number == from+1:
		return fmt.Errorf("%s-%d is missing", owner, from)
	}
	return fmt.Errorf("%s-%d to %s-%d are missing", owner, from, owner, number-1)
}
