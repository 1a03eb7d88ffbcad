package memory

import "sync/atomic"

var usage struct{ mapped, committed atomic.Int64 }

// Used is how much the linear memories and snapshots of this process use.
type Used struct {
	// Mapped is the address space, in bytes. Pages in it that were never written to
	// use no memory of their own.
	Mapped int64
	// Committed is the memory for the content of snapshots, in bytes. The private
	// pages of instances are not included (see Linear.Private).
	Committed int64
}

// Usage returns the present usage. It takes no lock.
func Usage() Used {
	return Used{Mapped: usage.mapped.Load(), Committed: usage.committed.Load()}
}
