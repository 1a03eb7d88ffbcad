package pod

import (
	"errors"
	"path/filepath"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Layout returns the paths of pods' files, in a kubelet's layout below its root and below /var/log.
type Layout struct {
	// PodRoot contains "pods/<uid>", and "identity".
	PodRoot string
	// LogRoot contains "pods/<namespace>_<name>_<uid>" and "containers".
	LogRoot string
}

// PodsDir is the directory with one subdirectory per pod UID.
func (l Layout) PodsDir() string { return filepath.Join(l.PodRoot, "pods") }

// IdentityDir is the directory that identifies the installation to which the pods belong.
func (l Layout) IdentityDir() string { return filepath.Join(l.PodRoot, "identity") }

// PodDir is the pod's directory. It is created before and removed after everything else of the pod.
func (l Layout) PodDir(uid types.UID) string { return filepath.Join(l.PodsDir(), string(uid)) }

// VolumesDir is the directory with one subdirectory per volume plugin.
func (l Layout) VolumesDir(uid types.UID) string { return filepath.Join(l.PodDir(uid), "volumes") }

// VolumeDir is the directory of one volume. Slashes in the plugin's name become tildes.
func (l Layout) VolumeDir(uid types.UID, plugin, name string) string {
	return filepath.Join(l.VolumesDir(uid), strings.ReplaceAll(plugin, "/", "~"), name)
}

// SubPathsDir is the directory for subpath mounts of containers, by volume, container and index of
// the mount.
func (l Layout) SubPathsDir(uid types.UID) string {
	return filepath.Join(l.PodDir(uid), "volume-subpaths")
}

// ContainerDir is the directory of the termination message files of a container.
func (l Layout) ContainerDir(uid types.UID, container string) string {
	return filepath.Join(l.PodDir(uid), "containers", container)
}

// SeccompDir is the directory of the seccomp profiles of type Localhost.
func (l Layout) SeccompDir() string { return filepath.Join(l.PodRoot, "seccomp") }

// HostsFile is the path of the pod's /etc/hosts on the node.
func (l Layout) HostsFile(uid types.UID) string { return filepath.Join(l.PodDir(uid), "etc-hosts") }

// LogDir is the directory with one subdirectory per container of the pod.
func (l Layout) LogDir(p *v1.Pod) string {
	return filepath.Join(l.LogRoot, "pods", LogDirName(p.Namespace, p.Name, p.UID))
}

// LogLinksDir is the directory of the symlinks that log collectors follow.
func (l Layout) LogLinksDir() string { return filepath.Join(l.LogRoot, "containers") }

// LogDirName returns "<namespace>_<name>_<uid>".
func LogDirName(namespace, name string, uid types.UID) string {
	return namespace + "_" + name + "_" + string(uid)
}

// LogDirUID returns the UID in the name of a log directory, empty if the name has another form.
func LogDirUID(name string) types.UID {
	_, rest, _ := strings.Cut(name, "_")
	_, uid, _ := strings.Cut(rest, "_")
	return types.UID(uid)
}

// ErrUnmarked is the error for a directory among those of pods that has no mark of the agent.
var ErrUnmarked = errors.New("it does not say whose it is")
