package volume

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"

	"github.com/wardlet/wardlet/core/internal/rmtree"
	"github.com/wardlet/wardlet/core/pod"
)

// EmptyDirPlugin is the plugin name of emptyDir volumes in the names of their directories; see
// pod.Layout.
const EmptyDirPlugin = "kubernetes.io/empty-dir"

// setupEmptyDir makes the directory of an emptyDir, writable for all users, and mounts a tmpfs on
// it if the medium is Memory. An existing directory belongs to the workload: its mode and owner are
// not changed.
func (v *Volumes) setupEmptyDir(p *v1.Pod, dir *os.Root, volume *v1.Volume) error {
	medium := volume.EmptyDir.Medium
	if medium != v1.StorageMediumDefault && medium != v1.StorageMediumMemory {
		return fmt.Errorf("emptyDir medium %s is not supported", medium)
	}
	if !rmtree.IsName(volume.Name) {
		return errors.New("the name cannot be that of a directory")
	}
	path := v.layout.VolumeDir(p.UID, EmptyDirPlugin, volume.Name)
	parent, err := filepath.Rel(v.layout.PodDir(p.UID), filepath.Dir(path))
	if err != nil {
		return err
	}
	if err := dir.MkdirAll(parent, 0o750); err != nil {
		return err
	}
	volumes, err := dir.OpenRoot(parent)
	if err != nil {
		return err
	}
	defer volumes.Close()
	switch info, err := volumes.Lstat(volume.Name); {
	case errors.Is(err, os.ErrNotExist):
		if err := makeWritable(volumes, volume.Name, fsGroup(p)); err != nil {
			return err
		}
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is in the way of the volume: remove it", path)
	}
	if medium == v1.StorageMediumMemory {
		return v.mountMemory(p, volume.EmptyDir, path)
	}
	return nil
}

// makeWritable makes a directory of mode 0777 whatever the umask is, in one atomic step. If group
// is below 0, the group is not changed; else new files in the directory inherit it.
func makeWritable(parent *os.Root, name string, group int) error {
	fresh := "." + name + ".new"
	if err := parent.RemoveAll(fresh); err != nil {
		return err
	}
	if err := parent.Mkdir(fresh, 0o777); err != nil {
		return err
	}
	mode := os.FileMode(0o777)
	if group >= 0 {
		if err := parent.Chown(fresh, -1, group); err != nil {
			return err
		}
		mode |= os.ModeSetgid
	}
	if err := parent.Chmod(fresh, mode); err != nil {
		return err
	}
	return parent.Rename(fresh, name)
}

// mountMemory mounts a tmpfs at path unless one is mounted there, perhaps since before a restart of
// the agent.
func (v *Volumes) mountMemory(p *v1.Pod, source *v1.EmptyDirVolumeSource, path string) error {
	// Without a size the kernel would allow half of the memory. The mode is the kernel's default,
	// as in a kubelet.
	options := []string{fmt.Sprintf("size=%d", v.memorySize(p, source))}
	if group := fsGroup(p); group >= 0 {
		options = append(options, "mode=3777", fmt.Sprintf("gid=%d", group))
	} else {
		options = append(options, "mode=1777")
	}
	return v.mountOnce(path, options)
}

// mountOnce mounts a tmpfs at path unless one is mounted there.
func (v *Volumes) mountOnce(path string, options []string) error {
	mounts, err := v.kernel.mounts(path)
	if err != nil {
		return err
	}
	for _, m := range mounts {
		switch {
		case m.Point == path && m.Type == tmpfs:
			return nil
		case m.Point == path:
			return fmt.Errorf("a %s is mounted at %s, not the volume: unmount it", m.Type, path)
		}
	}
	if err := v.kernel.mount(path, strings.Join(options, ",")); err != nil {
		return fmt.Errorf("mount a tmpfs at %s: %w", path, err)
	}
	return nil
}

// memorySize returns the smallest of sizeLimit, the pod's memory limit and the node's memory, in
// bytes, as in a kubelet.
func (v *Volumes) memorySize(p *v1.Pod, source *v1.EmptyDirVolumeSource) int64 {
	size := v.memory
	if limit := podMemoryLimit(p); limit > 0 {
		size = min(size, limit)
	}
	if source.SizeLimit != nil {
		if most := pod.Amount(v1.ResourceMemory, source.SizeLimit); most > 0 {
			size = min(size, most)
		}
	}
	return size
}

// podMemoryLimit returns the memory limit of the whole pod in bytes, 0 if a container has none.
func podMemoryLimit(p *v1.Pod) int64 {
	declared := true
	limits := resource.PodLimits(p, resource.PodResourcesOptions{
		ContainerFn: func(container v1.ResourceList, _ resource.ContainerType) {
			declared = declared && !container.Memory().IsZero()
		},
	})
	if !declared {
		return 0
	}
	return pod.Amount(v1.ResourceMemory, limits.Memory())
}

// fsGroup returns the group that owns the pod's volumes, -1 if there is none.
func fsGroup(p *v1.Pod) int {
	if p.Spec.SecurityContext == nil || p.Spec.SecurityContext.FSGroup == nil {
		return -1
	}
	return int(*p.Spec.SecurityContext.FSGroup)
}
