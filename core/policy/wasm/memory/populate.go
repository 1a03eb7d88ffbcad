package memory

// populateMost is the largest memory, in bytes, that is populated.
const populateMost = 16 << 20

// Populate makes all pages of the memory present now, and later pages as soon as
// the memory grows, as long as it has at most 16 MiB. So the guest has no page
// faults for them. It is for an instance that initialises itself. A memory that
// begins from a snapshot must not be populated, because it would no longer share
// pages.
func (l *Linear) Populate() {
	l.populates = true
	l.populate()
}

// Unknown reports whether the memory has pages at its end that may cost the guest
// page faults: they are not populated, not part of the snapshot, and no earlier
// call has left them present.
func (l *Linear) Unknown() bool { return l.size > l.given }

// populate writes to each page that is not present yet, without changing its
// content.
func (l *Linear) populate() {
	if !l.populates || l.size > populateMost {
		return
	}
	for ; l.given < l.size; l.given += pageSize {
		l.all[l.given]++
		l.all[l.given]--
	}
}
