package volume

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/internal/rmtree"
)

// A mount stays busy for a moment after its last process has exited.
const (
	busyRetries = 20
	busyWait    = 50 * time.Millisecond
)

// Teardown unmounts and removes the volumes of a pod that runs nothing; the pod's directory is
// kept. It waits up to a second for a volume that is busy. If something other than a volume is
// mounted, it removes nothing and the error names the mount.
func (v *Volumes) Teardown(ctx context.Context, uid types.UID) error {
	if err := v.unmount(ctx, uid); err != nil {
		return fmt.Errorf("volumes of pod %s: %w", uid, err)
	}
	for _, dir := range []string{v.layout.SubPathsDir(uid), v.layout.VolumesDir(uid)} {
		if err := rmtree.Remove(ctx, v.layout.PodDir(uid), filepath.Base(dir)); err != nil {
			return fmt.Errorf("volumes of pod %s: %w", uid, err)
		}
	}
	return nil
}

// Remove removes the directory of a pod with all its content, including volumes. The owner file is
// removed last.
func (v *Volumes) Remove(ctx context.Context, uid types.UID) error {
	if err := v.Teardown(ctx, uid); err != nil {
		return err
	}
	dir := v.layout.PodDir(uid)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("directory of pod %s: %w", uid, err)
	}
	for _, entry := range entries {
		if entry.Name() == ownerFile {
			continue
		}
		if err := rmtree.Remove(ctx, dir, entry.Name()); err != nil {
			return fmt.Errorf("directory of pod %s: %w", uid, err)
		}
	}
	if err := rmtree.Remove(ctx, v.layout.PodsDir(), string(uid)); err != nil {
		return fmt.Errorf("directory of pod %s: %w", uid, err)
	}
	return nil
}

// mountedPlugins are the plugins whose volumes may be in memory.
var mountedPlugins = []string{EmptyDirPlugin, secretPlugin, downwardPlugin, projectedPlugin}

// unmount unmounts the volumes in memory and the bind mounts of subpaths. It fails if anything else
// is mounted in the pod's directory.
func (v *Volumes) unmount(ctx context.Context, uid types.UID) error {
	if !rmtree.IsName(string(uid)) {
		return errors.New("the UID cannot be the name of a directory")
	}
	dir := v.layout.PodDir(uid)
	if _, err := os.Lstat(dir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	mounts, err := v.kernel.mounts(dir)
	if err != nil {
		return err
	}
	var foreign []string
	for _, m := range mounts {
		own := func(plugin string) bool { return m.Point == v.layout.VolumeDir(uid, plugin, filepath.Base(m.Point)) }
		if strings.HasPrefix(m.Point, v.layout.SubPathsDir(uid)+"/") {
			continue // of a volume, or of a path of the node
		}
		if m.Type != tmpfs && m.Type != hugetlbfs || !slices.ContainsFunc(mountedPlugins, own) {
			foreign = append(foreign, m.Point+" ("+m.Type+")")
		}
	}
	if len(foreign) > 0 {
		return fmt.Errorf("not removed, because it is no volume and mounted there: %s; unmount it", strings.Join(foreign, ", "))
	}
	for _, m := range mounts {
		if filepath.Dir(filepath.Dir(filepath.Dir(m.Point))) != v.layout.SubPathsDir(uid) {
			continue
		}
		if err := v.kernel.seclude(m.Point); err != nil {
			return fmt.Errorf("unmount %s: %w", m.Point, err)
		}
	}
	for _, m := range slices.Backward(mounts) {
		if err := v.unmountOne(ctx, m.Point); err != nil {
			return fmt.Errorf("unmount %s: %w", m.Point, err)
		}
	}
	return nil
}

func (v *Volumes) unmountOne(ctx context.Context, path string) error {
	for range busyRetries {
		err := v.kernel.unmount(path)
		if errors.Is(err, unix.EINVAL) {
			// Nothing is mounted there any more.
			return nil
		}
		if !errors.Is(err, unix.EBUSY) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(busyWait):
		}
	}
	return fmt.Errorf("%w: a process still uses it", unix.EBUSY)
}
