//go:build e2e

package rotate

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestRotator_fullDiskForReal mounts a file system.
func TestRotator_fullDiskForReal(t *testing.T) {
	t.Parallel()
	mount := t.TempDir()
	if err := unix.Mount("tmpfs", mount, "tmpfs", unix.MS_NOSUID, "size=128k,mode=0755"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(mount, 0); err != nil {
			t.Error(err)
		}
	})
	g := newRig(t, 16<<10, 3)
	g.log = filepath.Join(mount, "0.log")
	g.cfg.Pods()[0].Containers[0].LogPath = g.log
	random := func() string {
		var text strings.Builder
		source := rand.NewChaCha8([32]byte{})
		for text.Len() < 16<<10 {
			text.WriteByte(byte(source.Uint64()))
		}
		return text.String()
	}()
	older := g.log + ".19991231-000000"
	g.write(g.log, random)
	g.write(older, random)
	// Others fill the disk.
	var full error
	for full == nil {
		var f *os.File
		if f, full = os.OpenFile(filepath.Join(mount, "filler"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); full == nil {
			_, full = f.Write(make([]byte, 4096))
			full = errors.Join(full, f.Close())
		}
	}
	if !errors.Is(full, unix.ENOSPC) {
		t.Fatal(full)
	}
	g.look(t.Context())
	g.wantEvents("compressing a rotated log, which stays as it is: ")
	content, _ := g.files()
	if len(content) != 4 || content["0.log"] != "" || content[filepath.Base(older)] != random {
		t.Errorf("files of %d names, the log has %d bytes, the older one %d", len(content), len(content["0.log"]), len(content[filepath.Base(older)]))
	}
	// There is space again.
	if err := os.Remove(filepath.Join(mount, "filler")); err != nil {
		t.Fatal(err)
	}
	g.write(g.log, random)
	g.look(t.Context())
	g.wantEvents()
	content, _ = g.files()
	compressed := 0
	for name, text := range content {
		if strings.HasSuffix(name, ".gz") && text == random {
			compressed++
		}
	}
	if len(content) != 3 || compressed != 1 || content["0.log"] != "" {
		t.Errorf("%d files, %d of them compressed", len(content), compressed)
	}
}
