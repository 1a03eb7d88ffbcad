package pod

import (
	"errors"
	"path/filepath"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Layout says where the files of pods lie, as a kubelet lays them out below
// its root and below /var/log.
type Layout struct {
	// PodRoot holds "pods/<uid>", and "identity".
	PodRoot string
	// LogRoot holds "pods/<namespace>_<name>_<uid>" and "containers".
	LogRoot string
}

// PodsDir holds one directory per pod UID.
func (l Layout) PodsDir() string { return filepath.Join(l.PodRoot, "pods") }

// IdentityDir says which installation's the pods are.
func (l Layout) IdentityDir() string { return filepath.Join(l.PodRoot, "identity") }

// PodDir is the first thing made for a pod and the last thing removed.
func (l Layout) PodDir(uid types.UID) string { return filepath.Join(l.PodsDir(), string(uid)) }

// VolumesDir holds one directory per volume plugin.
func (l Layout) VolumesDir(uid types.UID) string { return filepath.Join(l.PodDir(uid), "volumes") }

// VolumeDir is the place of one volume; slashes of the plugin's name become
// tildes.
func (l Layout) VolumeDir(uid types.UID, plugin, name string) string {
	return filepath.Join(l.VolumesDir(uid), strings.ReplaceAll(plugin, "/", "~"), name)
}

// SubPathsDir holds what containers mount of parts of volumes, by volume, container and place of the mount.
func (l Layout) SubPathsDir(uid types.UID) string {
	return filepath.Join(l.PodDir(uid), "volume-subpaths")
}

// ContainerDir holds the termination message files of a container.
func (l Layout) ContainerDir(uid types.UID, container string) string {
	return filepath.Join(l.PodDir(uid), "containers", container)
}

// SeccompDir holds the seccomp profiles of type Localhost.
func (l Layout) SeccompDir() string { return filepath.Join(l.PodRoot, "seccomp") }

// HostsFile is the pod's /etc/hosts.
func (l Layout) HostsFile(uid types.UID) string { return filepath.Join(l.PodDir(uid), "etc-hosts") }

// LogDir holds one directory per container of the pod.
func (l Layout) LogDir(p *v1.Pod) string {
	return filepath.Join(l.LogRoot, "pods", LogDirName(p.Namespace, p.Name, p.UID))
}

// LogLinksDir holds the symlinks log collectors follow.
func (l Layout) LogLinksDir() string { return filepath.Join(l.LogRoot, "containers") }

// LogDirName is "<namespace>_<name>_<uid>".
func LogDirName(namespace, name string, uid types.UID) string {
	return namespace + "_" + name + "_" + string(uid)
}

// LogDirUID is the UID in such a name, empty where it is none.
func LogDirUID(name string) types.UID {
	_, rest, _ := strings.Cut(name, "_")
	_, uid, _ := strings.Cut(rest, "_")
	return types.UID(uid)
}

// ErrUnmarked is of a directory among those of pods that nothing says the agent has
// made.
var ErrUnmarked = errors.New("it does not say whose it is")
