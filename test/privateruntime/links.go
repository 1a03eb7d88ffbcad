package privateruntime

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// cacheDir is the directory in which the CNI library keeps what it needs for a DEL, regardless of
// containerd's configuration.
const cacheDir = "/var/lib/cni/results"

// removeLinks removes the bridge and the ends of pods' links in it.
func (i instance) removeLinks(ctx context.Context) error {
	ports, err := os.ReadDir(filepath.Join("/sys/class/net", i.bridge(), "brif"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list the links in bridge %s: %w", i.bridge(), err)
	}
	var failed []error
	for _, port := range ports {
		failed = append(failed, deleteLink(ctx, port.Name()))
	}
	return errors.Join(append(failed, deleteLink(ctx, i.bridge()))...)
}

// deleteLink removes a link. The kernel removes a pod's link by itself some time after the pod, so
// a missing link is success.
func deleteLink(ctx context.Context, name string) error {
	ip, err := lookSystem("ip")
	if err != nil {
		return fmt.Errorf("delete link %s: %w; %s", name, err, advice)
	}
	output, err := exec.CommandContext(ctx, ip, "link", "delete", "dev", name).CombinedOutput()
	if err != nil && linkExists(name) {
		return fmt.Errorf("delete link %s: %w: %s", name, err, bytes.TrimSpace(output))
	}
	return nil
}

func linkExists(name string) bool {
	_, err := net.InterfaceByName(name)
	return err == nil
}

// cacheFiles returns the CNI library's records of the runtime's pods; CNI DEL removes them.
func (i instance) cacheFiles() ([]string, error) {
	entries, err := os.ReadDir(cacheDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list CNI's cache: %w", err)
	}
	var own []string
	for _, entry := range entries {
		if isCacheOf(entry.Name(), i.network()) {
			own = append(own, filepath.Join(cacheDir, entry.Name()))
		}
	}
	return own, nil
}

// isCacheOf reports whether a cache file, named NETWORK-CONTAINER-INTERFACE, belongs to a network.
// One network's name may be a prefix of another's; IDs of containers have 64 digits and no dash.
func isCacheOf(file, network string) bool {
	rest, ok := strings.CutPrefix(file, network+"-")
	id, _, hasInterface := strings.Cut(rest, "-")
	return ok && hasInterface && len(id) == 64
}

// removeCache removes the records of pods for which CNI DEL did not run.
func (i instance) removeCache() error {
	files, err := i.cacheFiles()
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove CNI's cache: %w", err)
		}
	}
	return nil
}
