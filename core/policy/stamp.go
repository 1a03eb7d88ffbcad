package policy

import (
	"io/fs"
	"syscall"
	"time"
)

// stamp is what changes when a file does. The zero stamp is that of a name
// that leads nowhere.
type stamp struct {
	dev, ino     uint64
	size         int64
	mtime, ctime int64 // nanoseconds since 1970
}

func stampOf(info fs.FileInfo) stamp {
	st := info.Sys().(*syscall.Stat_t)
	return stamp{
		dev: uint64(st.Dev), ino: st.Ino, //nolint:unconvert // narrower on some architectures
		size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(),
	}
}

// placeOf is the stamp of a directory: which one it is, not what is in it.
func placeOf(info fs.FileInfo) stamp {
	s := stampOf(info)
	return stamp{dev: s.dev, ino: s.ino}
}

// newest is when the last change was made, zero for no file.
func newest(stamps map[string]stamp) time.Time {
	var last int64
	for _, s := range stamps {
		last = max(last, s.mtime, s.ctime)
	}
	if last == 0 {
		return time.Time{}
	}
	return time.Unix(0, last)
}
