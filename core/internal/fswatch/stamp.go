package fswatch

import (
	"io/fs"
	"syscall"
	"time"
)

// Inode names a file or directory for as long as it exists. The zero Inode is of no file.
type Inode struct{ Dev, Ino uint64 }

// Stamp is what changes when a file does. The zero Stamp is of no file.
type Stamp struct {
	Inode
	Size         int64
	Mtime, Ctime int64 // nanoseconds since 1970
}

// StampOf returns the stamp of a file that os.Stat or the like has looked at.
func StampOf(info fs.FileInfo) Stamp {
	st := info.Sys().(*syscall.Stat_t)
	return Stamp{
		Inode: Inode{Dev: uint64(st.Dev), Ino: st.Ino}, //nolint:unconvert // narrower on some architectures
		Size:  st.Size,
		Mtime: st.Mtim.Nano(),
		Ctime: st.Ctim.Nano(),
	}
}

// Content returns the stamp without what a change of names or modes changes too.
func (s Stamp) Content() Stamp {
	s.Ctime = 0
	return s
}

// Changed returns the later of the file's times, the zero time for no file.
func (s Stamp) Changed() time.Time {
	if s == (Stamp{}) {
		return time.Time{}
	}
	return time.Unix(0, max(s.Mtime, s.Ctime))
}
