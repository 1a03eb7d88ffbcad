package memory

import "sync/atomic"

var usage struct{ mapped, committed atomic.Int64 }

// Used is what the linear memories and snapshots of this process take.
type Used struct {
	// Mapped is address space, in bytes. Pages of it that were never written take
	// no memory of their own.
	Mapped int64
	// Committed is the memory that holds the content of snapshots, in bytes. What
	// instances wrote since comes on top (Linear.Private).
	Committed int64
}

// Usage is what is taken now. It takes no lock.
func Usage() Used {
	return Used{Mapped: usage.mapped.Load(), Committed: usage.committed.Load()}
}
