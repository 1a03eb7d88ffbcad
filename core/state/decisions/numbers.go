package decisions

import "fmt"

// recordNumbers notices records that are missing among those of one owner: they are
// numbered, the oldest make room first, and lineGap says which numbers were used up.
type recordNumbers struct {
	owner string
	// last is the number before which nothing is missing that was not told, where that
	// is known: room is made up to somewhere.
	last  uint64
	known bool
	// damaged: what is missing now may be what is known to be damaged.
	damaged bool
}

// segment begins one, which is named for its first record.
func (n *recordNumbers) segment(first uint64) {
	if !n.known {
		n.last, n.known = first-1, true
	}
}

// gap records that numbers were used up without a record.
func (n *recordNumbers) gap(last uint64) { n.last = max(n.last, last) }

// record records the next one, and returns as an error what is missing before it.
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
