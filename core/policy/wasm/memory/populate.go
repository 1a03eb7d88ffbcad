package memory

// populateMost is the largest memory, in bytes, that is populated.
const populateMost = 16 << 20

// Populate has the system give the memory all of its pages now, and from now on
// those by which it grows as it grows, as long as it has no more than 16 MiB, so
// that the guest has no page faults for them. It is for an instance that
// initialises itself: one that begins from a snapshot would lose by it that it
// shares pages.
func (l *Linear) Populate() {
	l.populates = true
	l.populate()
}

// Unknown says that the memory has pages at its end of which it is not known
// what they cost the guest: they are not populated, came after the snapshot, and no
// earlier call has left them.
func (l *Linear) Unknown() bool { return l.size > l.given }

// populate writes to each page that is not given yet, and leaves what is there.
func (l *Linear) populate() {
	if !l.populates || l.size > populateMost {
		return
	}
	for ; l.given < l.size; l.given += pageSize {
		l.all[l.given]++
		l.all[l.given]--
	}
}
