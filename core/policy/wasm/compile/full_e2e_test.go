//go:build e2e

package compile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// mounted returns a new file system. It needs root.
func mounted(t *testing.T) string {
	t.Helper()
	mount := t.TempDir()
	check(t, unix.Mount("tmpfs", mount, "tmpfs", unix.MS_NOSUID, "size=256k,mode=0755"))
	t.Cleanup(func() { check(t, unix.Unmount(mount, unix.MNT_DETACH)) })
	return mount
}

func TestAFullDiskCostsNoPluginForReal(t *testing.T) {
	t.Parallel()
	mount := mounted(t)
	f := library(t, filepath.Join(mount, "cache"))
	acquire(t, f, small(1)).Release()
	var full error
	for full == nil {
		var filler *os.File
		if filler, full = os.OpenFile(filepath.Join(mount, "filler"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); full == nil {
			_, full = filler.Write(make([]byte, 4096))
			full = errors.Join(full, filler.Close())
		}
	}
	if !errors.Is(full, unix.ENOSPC) {
		t.Fatal(full)
	}
	for n := int32(1); n < 4; n++ { // the first from the disk
		code := acquire(t, f, small(n))
		answers(t, f, code, n)
		code.Release()
	}
	if first := refuse(t, f, "no module"); *refuse(t, f, "no module") != *first {
		t.Errorf("refused %+v", first)
	}
	if n := strings.Count(f.out.String(), "they are kept in memory"); n != 1 || !strings.Contains(f.out.String(), "no space left on device") {
		t.Errorf("log %s", f.out)
	}
}

func TestCodeRunsFromADiskThatNothingMayRunFromForReal(t *testing.T) {
	t.Parallel()
	mount := t.TempDir()
	check(t, unix.Mount("tmpfs", mount, "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC, "mode=0755"))
	t.Cleanup(func() { check(t, unix.Unmount(mount, unix.MNT_DETACH)) })
	f := library(t, filepath.Join(mount, "cache"))
	code := acquire(t, f, small(7))
	defer code.Release()
	if code.held.laid != nil {
		t.Error("its image is mapped")
	}
	code.Trim(false)
	answers(t, f, code, 7)
	if f.out.String() != "" {
		t.Errorf("log %s", f.out)
	}
}

func TestAReadOnlyDiskCostsNoPluginForReal(t *testing.T) { // not parallel: a process that starts has files open
	mount := mounted(t)
	dir := filepath.Join(mount, "cache")
	f := library(t, dir)
	acquire(t, f, small(1)).Release()
	refused := refuse(t, f, "no module")
	check(t, f.runtime.Close(t.Context()))
	check(t, f.cache.Close())
	check(t, unix.Mount("", mount, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	f = library(t, dir)
	for n := int32(1); n < 4; n++ {
		code := acquire(t, f, small(n))
		answers(t, f, code, n)
		code.Release()
	}
	if again := refuse(t, f, "no module"); *again != *refused {
		t.Errorf("refused %+v", again)
	}
	if n := strings.Count(f.out.String(), "they are kept in memory"); n != 1 || f.children(t) != 2 {
		t.Errorf("%d children; log %s", f.children(t), f.out)
	}
}
