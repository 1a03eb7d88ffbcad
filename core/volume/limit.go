package volume

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/wardlet/wardlet/core/internal/fswatch"
)

// Excess is an emptyDir whose files take more room than its limit.
type Excess struct {
	Volume string
	Limit  resource.Quantity
}

// Limited reports whether a pod has an emptyDir on the disk with a limit. One in memory cannot grow beyond its own, and a limit
// of 0 is none, as with a kubelet.
func Limited(p *v1.Pod) bool {
	for i := range p.Spec.Volumes {
		if limit(&p.Spec.Volumes[i]) != nil {
			return true
		}
	}
	return false
}

func limit(v *v1.Volume) *resource.Quantity {
	if v.EmptyDir == nil || v.EmptyDir.Medium != v1.StorageMediumDefault || v.EmptyDir.SizeLimit == nil || v.EmptyDir.SizeLimit.Sign() <= 0 {
		return nil
	}
	return v.EmptyDir.SizeLimit
}

// Over returns the first emptyDir of a pod that is beyond its limit, nil for none. It reads the directories of the volumes.
func (v *Volumes) Over(ctx context.Context, p *v1.Pod) (*Excess, error) {
	var errs []error
	for i := range p.Spec.Volumes {
		volume := &p.Spec.Volumes[i]
		limit := limit(volume)
		if limit == nil {
			continue
		}
		used, err := usage(ctx, v.layout.VolumeDir(p.UID, emptyDirPlugin, volume.Name))
		if err != nil {
			errs = append(errs, err)
		}
		if used > limit.Value() { // also where not all could be counted
			return &Excess{volume.Name, *limit}, nil
		}
	}
	return nil, errors.Join(errs...)
}

// blockSize is the unit of a file's blocks, whatever those of its file system are.
const blockSize = 512

// usage returns what the files below a directory take of its disk, in bytes: a file of several names once, and nothing of what
// is mounted there. What vanishes meanwhile counts for nothing.
func usage(ctx context.Context, dir string) (used int64, err error) {
	var device uint64
	seen := map[fswatch.Inode]bool{}
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		stat := info.Sys().(*syscall.Stat_t)
		inode := fswatch.StampOf(info).Inode
		switch {
		case path == dir:
			device = inode.Dev
		case inode.Dev != device && entry.IsDir():
			return fs.SkipDir
		case inode.Dev != device, seen[inode]:
			return nil
		}
		if stat.Nlink > 1 && !entry.IsDir() {
			seen[inode] = true
		}
		used += stat.Blocks * blockSize
		return nil
	})
	return used, err
}
