package file

import (
	"crypto/sha256"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/fswatch"
)

// arrival is the way in which a name appeared; zero: it did not appear.
type arrival int

const (
	// created: the name was opened for writing, or is a link.
	created arrival = iota + 1
	// moved: the name was put there by a rename.
	moved
)

// racyWindow is the coarsest resolution of file times. A file that was written within this time may
// have been written again without a change of its times.
const racyWindow = 2 * time.Second

// file is the state of a name.
type file struct {
	// path is the path at which the file was read: the path of the source, or a path below it.
	path string
	// stamp is the last listed stamp. quiet is the time since when the file has not changed, as far
	// as is known.
	stamp fswatch.Stamp
	quiet time.Time
	// whole: the name appeared together with its content, and the file was not written since.
	whole bool
	// touched: the kernel reported a write and the file was not read since.
	touched bool
	// missing is the time since when listings lack the name, zero if they have it.
	missing time.Time

	// tried: the file was read at least once, successfully or not. docs are the documents of the
	// last reading. read is the stamp of the last successful reading, sum its digest.
	tried bool
	read  fswatch.Stamp
	sum   [sha256.Size]byte
	racy  bool
	docs  []api.Document
	// bytes and documents are the file's share of the totals of the Source (Source.count). left is
	// the number of its documents for which there is no room.
	bytes           int64
	documents, left int

	// given are the documents that were delivered to the sink. told: there was a delivery.
	given []given
	told  bool
}

// see records the file's entry in a listing.
func (f *file) see(e entry, how arrival, relinked bool, now time.Time) {
	f.missing = time.Time{}
	other := e.stamp.Inode != f.read.Inode
	written := e.stamp.Content() != f.stamp.Content()
	switch {
	case how == moved, how == created && (e.symlink || e.hardlink), relinked && other:
		f.whole = true
	case written:
		f.whole = false
	}
	switch {
	case how == created, written && e.stamp.Inode == f.stamp.Inode:
		// The file's times prove nothing: a file that is being truncated has its new size before
		// its new times.
		f.quiet = now
	case written:
		// The time is computed from now, so that it is safe from jumps of the clock.
		f.quiet = now.Add(-max(0, now.Sub(e.stamp.Changed())))
	}
	f.stamp = e.stamp
}

// current reports whether the last reading was successful and has this stamp.
func (f *file) current() bool { return f.tried && !f.touched && f.read == f.stamp }

// stale reports whether there is something to read.
func (f *file) stale() bool { return f.racy || !f.current() }

// settled reports whether the file may be read.
func (f *file) settled(now time.Time, settle time.Duration) bool {
	return f.whole || now.Sub(f.quiet) >= settle
}
