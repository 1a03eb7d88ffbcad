package stats

import (
	"context"
	"os"

	"golang.org/x/sys/unix"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"

	"github.com/wardlet/wardlet/core/internal/filesystem"
)

// disksTime limits how long one reading waits for file systems that do not answer.
const disksTime = 2 * filesystem.Timeout

// disks are the file systems that one reading has looked at, by path.
type disks struct {
	ctx    context.Context
	reader *filesystem.Reader
	now    metav1.Time
	known  map[string]*statsapi.FsStats
}

// of returns the state of the file system of a path, nil if it cannot be read.
func (d *disks) of(path string) *statsapi.FsStats {
	if fs, known := d.known[path]; known {
		return fs
	}
	fs := d.read(path)
	d.known[path] = fs
	return fs
}

func (d *disks) read(path string) *statsapi.FsStats {
	if path == "" {
		return nil
	}
	fs, err := d.reader.Of(d.ctx, path)
	if err != nil {
		return nil
	}
	number := func(n int64) *uint64 { return new(uint64(n)) }
	return &statsapi.FsStats{
		Time: d.now, CapacityBytes: number(fs.Capacity), AvailableBytes: number(fs.Available), UsedBytes: number(fs.Used()),
		Inodes: number(fs.Inodes), InodesFree: number(fs.FreeInodes), InodesUsed: number(fs.Inodes - min(fs.Inodes, fs.FreeInodes)),
	}
}

// within returns the statistics of something that uses a part of a file system; fs is nil if the
// file system is unknown.
func within(fs *statsapi.FsStats, at metav1.Time, used, inodes *uint64) *statsapi.FsStats {
	out := &statsapi.FsStats{}
	if fs != nil {
		*out = *fs
	}
	out.Time, out.UsedBytes, out.InodesUsed = at, used, inodes
	return out
}

// filesUse returns how much the files in a directory use, without those in its subdirectories; nil if
// it cannot be read.
func filesUse(dir string) (bytes, inodes *uint64) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil
	}
	const blockSize = 512
	var used, files uint64
	for _, e := range entries {
		var st unix.Stat_t
		if unix.Lstat(dir+"/"+e.Name(), &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
			continue
		}
		used += uint64(st.Blocks) * blockSize
		files++
	}
	return &used, &files
}
