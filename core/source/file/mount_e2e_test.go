//go:build e2e

package file

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestADirectoryThatIsUnmountedEndsNothingForReal needs root.
func TestADirectoryThatIsUnmountedEndsNothingForReal(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir, data := filepath.Join(base, "manifests"), filepath.Join(base, "data")
	must(t, os.Mkdir(dir, 0o700))
	must(t, os.Mkdir(data, 0o700))
	mounted := false
	mount := func(what, fstype string, flags uintptr) {
		must(t, unix.Mount(what, dir, fstype, flags, ""))
		mounted = true
	}
	unmount := func() {
		must(t, unix.Unmount(dir, unix.MNT_DETACH))
		mounted = false
	}
	t.Cleanup(func() {
		if mounted {
			unmount()
		}
	})
	write(t, filepath.Join(data, "a.yaml"), manifestOf("a", "one"))
	mount(data, "", unix.MS_BIND)
	s, k := newSource(dir, 10*time.Millisecond, func(c *Config) { c.Period = 50 * time.Millisecond })
	run(t, s, k)
	health := func() string {
		healths := k.healths()
		return healths[len(healths)-1]
	}
	const other = "list manifests: DIR is empty and not the directory it was"
	isOther := func() bool { return strings.HasPrefix(health(), other) }
	eventually(t, []string{"a.yaml#0 a one"}, k.has)

	unmount()
	eventually(t, true, isOther)
	// Another, empty file system at this path does not change that.
	mount("tmpfs", "tmpfs", 0)
	eventually(t, true, isOther)
	unmount()
	eventually(t, []string{"a.yaml#0 a one"}, k.has)
	if n := len(k.all()); n != 1 {
		t.Errorf("deliveries: %v", k.all())
	}

	write(t, filepath.Join(data, "b.yaml"), manifestOf("b", "one"))
	mount(data, "", unix.MS_BIND)
	eventually(t, []string{"a.yaml#0 a one", "b.yaml#0 b one"}, k.has)
	eventually(t, "<nil>", health)
	// The source watches the directory again.
	must(t, os.Remove(filepath.Join(dir, "a.yaml")))
	eventually(t, []string{"b.yaml#0 b one"}, k.has)
	unmount()
	eventually(t, true, isOther)
}
