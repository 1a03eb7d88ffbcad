package privateruntime

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// chooseSnapshotter tries an overlay mount in the directory: a filesystem that is itself an overlay refuses it.
func chooseSnapshotter(dir string) (string, error) {
	trial := filepath.Join(dir, "overlay")
	for _, name := range []string{"lower", "upper", "work", "merged"} {
		if err := os.MkdirAll(filepath.Join(trial, name), 0o700); err != nil {
			return "", fmt.Errorf("try an overlay mount: %w", err)
		}
	}
	merged := filepath.Join(trial, "merged")
	options := fmt.Sprintf("lowerdir=%[1]s/lower,upperdir=%[1]s/upper,workdir=%[1]s/work", trial)
	chosen := "native"
	if err := unix.Mount("overlay", merged, "overlay", 0, options); err == nil {
		chosen = "overlayfs"
		if err := unix.Unmount(merged, unix.MNT_DETACH); err != nil {
			return "", fmt.Errorf("undo the trial mount on %s: %w", merged, err)
		}
	}
	if err := os.RemoveAll(trial); err != nil {
		return "", fmt.Errorf("remove the trial mount's directory: %w", err)
	}
	return chosen, nil
}
