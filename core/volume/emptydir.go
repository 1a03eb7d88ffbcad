package volume

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	helper "k8s.io/component-helpers/resource"

	"github.com/wardlet/wardlet/core/internal/rmtree"
	"github.com/wardlet/wardlet/core/pod"
)

// EmptyDirPlugin is the plugin name of emptyDir volumes in the names of their directories; see
// pod.Layout.
const EmptyDirPlugin = "kubernetes.io/empty-dir"

// setupEmptyDir makes the directory of an emptyDir, writable for all users, and mounts a tmpfs on
// it if the medium is Memory, or huge pages if it is HugePages. An existing directory belongs to the
// workload: its mode and owner are not changed.
func (v *Volumes) setupEmptyDir(p *v1.Pod, dir *os.Root, volume *v1.Volume) error {
	medium := volume.EmptyDir.Medium
	huge := strings.HasPrefix(string(medium), string(v1.StorageMediumHugePages))
	if medium != v1.StorageMediumDefault && medium != v1.StorageMediumMemory && !huge {
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
	switch {
	case huge:
		return v.mountHugePages(p, medium, path)
	case medium == v1.StorageMediumMemory:
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
	return v.mountOnce(tmpfs, path, 0, append([]string{fmt.Sprintf("size=%d", v.memorySize(p, source))}, forAll(p)...))
}

// forAll returns the options of a mount in which all users, or the pod's group, may make files.
func forAll(p *v1.Pod) []string {
	if group := fsGroup(p); group >= 0 {
		return []string{"mode=3777", fmt.Sprintf("gid=%d", group)}
	}
	return []string{"mode=1777"}
}

// mountHugePages mounts huge pages at path, of the size that the medium has, else of the one that the
// pod requests.
func (v *Volumes) mountHugePages(p *v1.Pod, medium v1.StorageMedium, path string) error {
	requested := map[int64]bool{}
	for name := range helper.PodRequests(p, helper.PodResourcesOptions{}) {
		if size := pod.PageSize(name); size > 0 {
			requested[size] = true
		}
	}
	sizes := slices.Collect(maps.Keys(requested))
	if name, ok := strings.CutPrefix(string(medium), string(v1.StorageMediumHugePages)+"-"); ok {
		sizes = []int64{pod.PageSize(v1.ResourceName(v1.ResourceHugePagesPrefix + name))}
	}
	switch {
	case len(sizes) == 0:
		return fmt.Errorf("emptyDir medium %s: the pod requests no huge pages", medium)
	case len(sizes) > 1:
		return fmt.Errorf("emptyDir medium %s: the pod requests huge pages of %d sizes; name one, as in HugePages-2Mi", medium, len(sizes))
	case !requested[sizes[0]]:
		return fmt.Errorf("emptyDir medium %s: the pod requests no pages of this size", medium)
	}
	return v.mountOnce(hugetlbfs, path, 0, append([]string{fmt.Sprintf("pagesize=%d", sizes[0])}, forAll(p)...))
}

// mountOnce mounts a file system in memory at path unless one of its type is mounted there.
func (v *Volumes) mountOnce(fsType, path string, flags uintptr, options []string) error {
	mounts, err := v.kernel.mounts(path)
	if err != nil {
		return err
	}
	for _, m := range mounts {
		switch {
		case m.Point == path && m.Type == fsType:
			return nil
		case m.Point == path:
			return fmt.Errorf("a %s is mounted at %s, not the volume: unmount it", m.Type, path)
		}
	}
	if err := v.kernel.mount(fsType, path, flags, strings.Join(options, ",")); err != nil {
		return fmt.Errorf("mount a %s at %s: %w", fsType, path, err)
	}
	return nil
}

// memorySize returns the smallest of sizeLimit, the pod's memory limit and the memory that the node
// allocates to pods, in bytes, as in a kubelet.
func (v *Volumes) memorySize(p *v1.Pod, source *v1.EmptyDirVolumeSource) int64 {
	size := v.memory
	if left := v.allocatable(); left.Memory().Value() > 0 {
		size = min(size, left.Memory().Value())
	}
	if limit := pod.Limit(p, v1.ResourceMemory); limit > 0 {
		size = min(size, limit)
	}
	if source.SizeLimit != nil {
		if most := pod.Amount(v1.ResourceMemory, source.SizeLimit); most > 0 {
			size = min(size, most)
		}
	}
	return size
}

// fsGroup returns the group that owns the pod's volumes, -1 if there is none.
func fsGroup(p *v1.Pod) int {
	if p.Spec.SecurityContext == nil || p.Spec.SecurityContext.FSGroup == nil {
		return -1
	}
	return int(*p.Spec.SecurityContext.FSGroup)
}
