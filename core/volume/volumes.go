package volume

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

// Volumes makes and removes pod directories and volumes.
type Volumes struct {
	layout pod.Layout
	memory int64
	kernel kernel
	// objects is nil if no pod may have volumes of API objects.
	objects Objects
	// allocatable returns the node's allocatable resources.
	allocatable func() v1.ResourceList
	// recursiveReadOnly reports whether the runtime of a pod can make mounts read-only recursively.
	recursiveReadOnly func(p *v1.Pod) bool
}

// New makes the directory that contains the pods' directories. memory is the node's memory in
// bytes. objects is nil if there is no API server. allocatable returns the node's allocatable
// resources, for files with a limit that is not set; its memory is the maximum size of a volume in
// memory.
// recursiveReadOnly reports whether the runtime of a pod can make mounts read-only recursively.
func New(layout pod.Layout, memory int64, objects Objects, allocatable func() v1.ResourceList, recursiveReadOnly func(p *v1.Pod) bool) (*Volumes, error) {
	if memory <= 0 {
		return nil, fmt.Errorf("%d bytes of memory: a volume in memory would have no limit", memory)
	}
	if err := makePodsDir(layout); err != nil {
		return nil, err
	}
	// The kernel lists mounts with links resolved.
	root, err := filepath.EvalSymlinks(layout.PodRoot)
	if err == nil {
		layout.PodRoot, err = filepath.Abs(root)
	}
	if err != nil {
		return nil, fmt.Errorf("pod root: %w", err)
	}
	return &Volumes{layout: layout, memory: memory, kernel: linux{}, objects: objects, allocatable: allocatable, recursiveReadOnly: recursiveReadOnly}, nil
}

// makePodsDir makes the directory of the pods' directories.
func makePodsDir(layout pod.Layout) error {
	if err := os.MkdirAll(layout.PodsDir(), 0o750); err != nil {
		return fmt.Errorf("make the pod root: %w", err)
	}
	return nil
}

// Setup makes the pod's directory and all its volumes. Existing volumes are kept, and the files
// that the agent writes are updated. The error names every volume that could not be made. It is a
// *StaleError if all volumes exist, but the files of some could not be updated.
func (v *Volumes) Setup(ctx context.Context, p *v1.Pod) error {
	dir, err := v.makePodDir(p)
	if err != nil {
		return fmt.Errorf("pod directory: %w", err)
	}
	defer dir.Close()
	var errs, stale []error
	for i := range p.Spec.Volumes {
		if err := ctx.Err(); err != nil {
			return err
		}
		volume := &p.Spec.Volumes[i]
		switch {
		case volume.EmptyDir != nil:
			err = v.setupEmptyDir(p, dir, volume)
		case volume.HostPath != nil:
			err = setupHostPath(volume.HostPath)
		case hasFiles(volume):
			err = v.setupFiles(ctx, p, dir, volume)
		default:
			err = errKind
		}
		if old, ok := errors.AsType[*StaleError](err); ok {
			stale = append(stale, fmt.Errorf("volume %q: %w", volume.Name, old.Err))
		} else if err != nil {
			errs = append(errs, fmt.Errorf("volume %q: %w", volume.Name, err))
		}
	}
	if len(errs) == 0 && len(stale) > 0 {
		return &StaleError{errors.Join(stale...)}
	}
	return errors.Join(append(errs, stale...)...)
}

// Mounts resolves the volume mounts of c, a container of p, and binds the subpaths that it mounts.
// expand replaces $(NAME) in a subpath by variables of the container.
func (v *Volumes) Mounts(p *v1.Pod, c *v1.Container, expand func(string) (string, error)) ([]pod.Mount, error) {
	mounts := make([]pod.Mount, 0, len(c.VolumeMounts))
	for i := range c.VolumeMounts {
		m := &c.VolumeMounts[i]
		host, err := v.mountSource(p, c, i, expand)
		if err != nil {
			return nil, fmt.Errorf("mount %q of container %q: %w", m.Name, c.Name, err)
		}
		target := m.MountPath
		if !filepath.IsAbs(target) {
			target = filepath.Join("/", target)
		}
		mount := pod.Mount{HostPath: host, ContainerPath: target, ReadOnly: m.ReadOnly || holdsOnlyFiles(p, m.Name)}
		if m.MountPropagation != nil {
			mount.Propagation = *m.MountPropagation
		}
		if mount.RecursiveReadOnly, err = pod.RecursiveReadOnly(m, pod.AsksRecursiveReadOnly(c) && v.recursiveReadOnly(p)); err != nil {
			return nil, fmt.Errorf("mount %q of container %q: %w", m.Name, c.Name, err)
		}
		mounts = append(mounts, mount)
	}
	return mounts, nil
}

// mountSource returns the host path of a container's mount: a volume, or a subpath of one.
func (v *Volumes) mountSource(p *v1.Pod, c *v1.Container, index int, expand func(string) (string, error)) (string, error) {
	m := &c.VolumeMounts[index]
	host, err := v.hostPath(p, m)
	sub := m.SubPath
	if err == nil && m.SubPathExpr != "" {
		sub, err = expand(m.SubPathExpr)
	}
	if err != nil || sub == "" {
		return host, err
	}
	return v.subPath(p, c.Name, index, m.Name, host, sub)
}

// errKind is the error for a volume of an unsupported kind.
var errKind = errors.New("only emptyDir, hostPath, configMap, secret, downwardAPI and projected volumes are supported")

// hasFiles reports whether only the agent writes the files of a volume.
func hasFiles(v *v1.Volume) bool {
	plugin, _ := filesOf(v)
	return plugin != ""
}

// holdsOnlyFiles reports whether only the agent writes the files of the named volume of the pod.
func holdsOnlyFiles(p *v1.Pod, name string) bool {
	return slices.ContainsFunc(p.Spec.Volumes, func(v v1.Volume) bool { return v.Name == name && hasFiles(&v) })
}

func (v *Volumes) hostPath(p *v1.Pod, m *v1.VolumeMount) (string, error) {
	for i := range p.Spec.Volumes {
		volume := &p.Spec.Volumes[i]
		switch {
		case volume.Name != m.Name:
		case volume.EmptyDir != nil:
			return v.layout.VolumeDir(p.UID, EmptyDirPlugin, volume.Name), nil
		case volume.HostPath != nil:
			return volume.HostPath.Path, nil
		case hasFiles(volume):
			plugin, _ := filesOf(volume)
			return v.layout.VolumeDir(p.UID, plugin, volume.Name), nil
		default:
			return "", errKind
		}
	}
	return "", errors.New("the pod has no volume of that name")
}

// Pods lists the pods that have a directory, by the directories' names.
func (v *Volumes) Pods() ([]types.UID, error) {
	entries, err := os.ReadDir(v.layout.PodsDir())
	if err != nil {
		return nil, fmt.Errorf("list pod directories: %w", err)
	}
	var uids []types.UID
	for _, entry := range entries {
		if entry.IsDir() {
			uids = append(uids, types.UID(entry.Name()))
		}
	}
	return uids, nil
}
