package fswatch

import (
	"io/fs"
	"syscall"
	"time"
)

// Inode identifies a file or directory while it exists. The zero Inode identifies none.
type Inode struct{ Dev, Ino uint64 }

// Stamp is a state of a file that changes with the file. The zero Stamp means no file.
type Stamp struct {
	Inode
	Size         int64
	Mtime, Ctime int64 // nanoseconds since 1970
}

// StampOf returns the stamp of a file from the result of os.Stat or a similar call.
func StampOf(info fs.FileInfo) Stamp {
	st := info.Sys().(*syscall.Stat_t)
	return Stamp{
		Inode: Inode{Dev: uint64(st.Dev), Ino: st.Ino}, //nolint:unconvert // narrower on some architectures
		Size:  st.Size,
		Mtime: st.Mtim.Nano(),
		Ctime: st.Ctim.Nano(),
	}
}

// Content returns the stamp without the part that also changes with a file's name or mode.
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
