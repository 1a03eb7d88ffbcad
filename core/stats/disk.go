package stats

import (
	"os"

	"golang.org/x/sys/unix"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

// disks are the file systems that one reading has looked at, by path.
type disks struct {
	now   metav1.Time
	known map[string]*statsapi.FsStats
}

// of returns the state of the file system of a path, nil if it cannot be read.
func (d *disks) of(path string) *statsapi.FsStats {
	if fs, known := d.known[path]; known {
		return fs
	}
	fs := fileSystem(path, d.now)
	d.known[path] = fs
	return fs
}

func fileSystem(path string, now metav1.Time) *statsapi.FsStats {
	var st unix.Statfs_t
	if path == "" || unix.Statfs(path, &st) != nil {
		return nil
	}
	block := uint64(st.Bsize)
	return &statsapi.FsStats{
		Time: now, CapacityBytes: new(st.Blocks * block), AvailableBytes: new(st.Bavail * block), UsedBytes: new((st.Blocks - st.Bfree) * block),
		Inodes: new(st.Files), InodesFree: new(st.Ffree), InodesUsed: new(st.Files - min(st.Files, st.Ffree)),
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
