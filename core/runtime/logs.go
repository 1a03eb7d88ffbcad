package runtime

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/runtime/criconfig"
)

// maxFileName is the longest file name that file systems allow, in bytes.
const maxFileName = 255

// LogPath returns the path of a container's log.
func (r *Runtime) LogPath(ctx context.Context, id string) (string, error) {
	answer, err := r.cri.ContainerStatus(ctx, &runtimeapi.ContainerStatusRequest{ContainerId: id})
	if err != nil {
		return "", fmt.Errorf("container %s: %w", id, err)
	}
	c := answer.GetStatus()
	if !r.owns(c.GetAnnotations(), c.GetLabels()) {
		return "", fmt.Errorf("container %s: it is not one of this installation", id)
	}
	return c.GetLogPath(), nil
}

// ReopenLog makes the runtime reopen the log of a running container by its path.
func (r *Runtime) ReopenLog(ctx context.Context, id string) error {
	_, err := r.cri.ReopenContainerLog(ctx, &runtimeapi.ReopenContainerLogRequest{ContainerId: id})
	return err
}

// logLink returns the path at which log collectors look for a container's log. The name is
// truncated as in a kubelet, because collectors parse it.
func (r *Runtime) logLink(name, namespace, container, id string) string {
	const suffix = ".log"
	file := fmt.Sprintf("%s_%s_%s-%s", name, namespace, container, id)
	file = file[:min(len(file), maxFileName-len(suffix))] + suffix
	return filepath.Join(r.config.Layout.LogLinksDir(), file)
}

// linkLog makes the link to a started container's log, if the runtime writes a log.
func (r *Runtime) linkLog(run *pod.ContainerRun, id string) error {
	target := filepath.Join(r.config.Layout.LogDir(run.Pod), criconfig.LogPath(run.Container.Name, run.Attempt))
	if _, err := os.Stat(target); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := os.MkdirAll(r.config.Layout.LogLinksDir(), 0o755); err != nil { // log collectors must read it
		return err
	}
	link := r.logLink(run.Pod.Name, run.Pod.Namespace, run.Container.Name, id)
	err := os.Symlink(target, link)
	if errors.Is(err, fs.ErrExist) && isSymlink(link) {
		// The container's ID at the end of the name was truncated: the link belongs to an earlier
		// container.
		if err = removeFile(link); err == nil {
			err = os.Symlink(target, link)
		}
	}
	return err
}

// removeLogs removes a container's log, the rotated logs and the link.
func (r *Runtime) removeLogs(c *runtimeapi.ContainerStatus) error {
	log := c.GetLogPath()
	if log == "" {
		return nil
	}
	dir, name := filepath.Split(log)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("logs: %w", err)
	}
	for _, e := range entries {
		if e.Name() != name && !strings.HasPrefix(e.Name(), name+".") {
			continue
		}
		if err := removeFile(filepath.Join(dir, e.Name())); err != nil {
			return fmt.Errorf("logs: %w", err)
		}
	}
	labels := c.GetLabels()
	link := r.logLink(labels[pod.LabelPodName], labels[pod.LabelPodNamespace], labels[pod.LabelContainerName], c.GetId())
	// The link of a truncated name may belong to another container.
	if target, err := os.Readlink(link); err != nil || target != log {
		return nil //nolint:nilerr // no link, nothing to remove
	}
	if err := removeFile(link); err != nil {
		return fmt.Errorf("log link: %w", err)
	}
	return nil
}
