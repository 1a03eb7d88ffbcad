package stats

import (
	"context"
	"fmt"
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
	known  map[string]*disk
}

// disk is the state of a file system, and the number of its device.
type disk struct {
	number string
	stats  statsapi.FsStats
}

// of returns the state of the file system of a path, nil if it cannot be read.
func (d *disks) of(path string) *statsapi.FsStats {
	one, known := d.known[path]
	if !known {
		one = d.read(path)
		d.known[path] = one
	}
	if one == nil {
		return nil
	}
	return &one.stats
}

// devices returns the file systems that were read, by the number of their device ("8:0").
func (d *disks) devices() map[string]*statsapi.FsStats {
	devices := map[string]*statsapi.FsStats{}
	for _, one := range d.known {
		if one != nil {
			devices[one.number] = &one.stats
		}
	}
	return devices
}

func (d *disks) read(path string) *disk {
	if path == "" {
		return nil
	}
	fs, err := d.reader.Of(d.ctx, path)
	if err != nil {
		return nil
	}
	number := func(n int64) *uint64 { return new(uint64(n)) }
	return &disk{number: fmt.Sprintf("%d:%d", unix.Major(fs.Device), unix.Minor(fs.Device)), stats: statsapi.FsStats{
		Time: d.now, CapacityBytes: number(fs.Capacity), AvailableBytes: number(fs.Available), UsedBytes: number(fs.Used()),
		Inodes: number(fs.Inodes), InodesFree: number(fs.FreeInodes), InodesUsed: number(fs.Inodes - min(fs.Inodes, fs.FreeInodes)),
	}}
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
