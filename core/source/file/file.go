package file

import (
	"crypto/sha256"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/fswatch"
)

// arrival is how a name appeared; zero: it did not.
type arrival int

const (
	// created: opened for writing, or a link.
	created arrival = iota + 1
	// moved: put there by a rename.
	moved
)

// racyWindow is the coarsest step of file times: what was written within it
// may have been written again without a trace.
const racyWindow = 2 * time.Second

// file is what is remembered of a name.
type file struct {
	// path is where it was read: the path of the source, or below that.
	path string
	// stamp is the last one listed; quiet is since when it stands, as far as
	// is known.
	stamp fswatch.Stamp
	quiet time.Time
	// whole is true when the file came under its name in one step and was not
	// written to since.
	whole bool
	// touched is true when the kernel told of a write that was not read yet.
	touched bool
	// missing is since when listings lack the name; zero: they have it.
	missing time.Time

	// tried is true once there was a reading, good or bad; docs are those of
	// the last one. read is the stamp of the last good one, sum the digest.
	tried bool
	read  fswatch.Stamp
	sum   [sha256.Size]byte
	racy  bool
	docs  []api.Document
	// bytes and documents are what counts of the file (Source.count), left how many
	// documents it has that there is no room for.
	bytes           int64
	documents, left int

	// given is what the sink was told of the documents, told whether it was told
	// anything.
	given []given
	told  bool
}

// see records what a listing shows of the file.
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
		// Its times prove nothing: a file that is being cut off has its new
		// size before its new times.
		f.quiet = now
	case written:
		// Reckoned from now, so that it is safe from jumps of the clock.
		f.quiet = now.Add(-max(0, now.Sub(e.stamp.Changed())))
	}
	f.stamp = e.stamp
}

// current reports whether the last reading was good and is of this stamp.
func (f *file) current() bool { return f.tried && !f.touched && f.read == f.stamp }

// stale reports whether there is something to read.
func (f *file) stale() bool { return f.racy || !f.current() }

// settled reports whether the file may be read.
func (f *file) settled(now time.Time, settle time.Duration) bool {
	return f.whole || now.Sub(f.quiet) >= settle
}
