//go:build e2e

package rmtree_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wardlet/wardlet/core/internal/rmtree"
)

// Needs root.
func TestRemoveDoesNotEnterWhatIsMountedForReal(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"dir", "dir/mount", "dir/sub/mount", "dir/sub/deeper/mount"} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			parent, data := t.TempDir(), t.TempDir()
			check(t, os.WriteFile(filepath.Join(data, "keep"), nil, 0o600))
			point := filepath.Join(parent, place)
			check(t, os.MkdirAll(point, 0o700))
			// A bind mount: the device is the same on both sides.
			check(t, unix.Mount(data, point, "", unix.MS_BIND, ""))
			// A mount moves with the directories above it.
			at, err := unix.Open(point, unix.O_PATH, 0)
			check(t, err)
			t.Cleanup(func() {
				path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(at))
				check(t, errors.Join(err, unix.Close(at)))
				check(t, unix.Unmount(path, 0))
			})

			err = rmtree.Remove(t.Context(), parent, "dir")

			if !errors.Is(err, unix.EXDEV) && !errors.Is(err, unix.EBUSY) {
				t.Errorf("got %v", err)
			}
			if _, err := os.Stat(filepath.Join(data, "keep")); err != nil {
				t.Errorf("the mounted data was removed: %v", err)
			}
		})
	}
}
