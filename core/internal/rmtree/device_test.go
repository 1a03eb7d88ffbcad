package rmtree

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestWithoutOpenat2OtherFileSystemsAreStillSeen(t *testing.T) {
	t.Parallel()
	root, err := os.Open("/")
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	if _, err := openSameDevice(int(root.Fd()), "proc", flags); !errors.Is(err, unix.EXDEV) {
		t.Errorf("/proc: %v", err)
	}
	fd, err := openSameDevice(int(root.Fd()), "etc", flags)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Close(fd); err != nil {
		t.Error(err)
	}
}
