package privateruntime

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mountPoint is one line of the kernel's mount table.
type mountPoint struct {
	path   string
	fsType string
}

// readMounts returns the mount table in the order of mounting.
func readMounts() ([]mountPoint, error) {
	file, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("read the mount table: %w", err)
	}
	defer func() { _ = file.Close() }()
	return parseMounts(file)
}

// parseMounts reads mountinfo lines: six fields, optional ones, a dash, the type.
func parseMounts(table io.Reader) ([]mountPoint, error) {
	var mounts []mountPoint
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		dash := slices.Index(fields, "-")
		if dash < 6 || dash+1 >= len(fields) {
			continue
		}
		mounts = append(mounts, mountPoint{unescape(fields[4]), fields[dash+1]})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the mount table: %w", err)
	}
	return mounts, nil
}

// unescape decodes the octal escapes of blanks and backslashes.
func unescape(path string) string {
	var plain strings.Builder
	for at := 0; at < len(path); at++ {
		if path[at] == '\\' && at+4 <= len(path) {
			if code, err := strconv.ParseUint(path[at+1:at+4], 8, 8); err == nil {
				plain.WriteByte(byte(code))
				at += 3
				continue
			}
		}
		plain.WriteByte(path[at])
	}
	return plain.String()
}

// mounts returns the mounts at and below the runtime's directories, the innermost first.
func (i instance) mounts() ([]mountPoint, error) {
	all, err := readMounts()
	if err != nil {
		return nil, err
	}
	var own []mountPoint
	for _, mount := range all {
		if within(mount.path, i.stateDir()) || i.Dir != "" && within(mount.path, i.Dir) {
			own = append(own, mount)
		}
	}
	slices.Reverse(own)
	return own, nil
}

func within(path, dir string) bool { return strings.HasPrefix(path, dir+"/") }

// unmountAll unmounts these mounts. Removing the directories first would delete files through the
// mounts.
func (i instance) unmountAll() error {
	own, err := i.mounts()
	if err != nil {
		return err
	}
	var failed []error
	for _, mount := range own {
		if err := unix.Unmount(mount.path, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW); err != nil && !errors.Is(err, unix.EINVAL) {
			failed = append(failed, fmt.Errorf("unmount %s: %w", mount.path, err))
		}
	}
	return errors.Join(failed...)
}
