package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wardlet/wardlet/cmd/agent/internal/clitest"
)

// failing returns a function that fails to name a file, with err.
func failing(err error) func(from, to string) error {
	return func(from, to string) error {
		return &os.LinkError{Op: "link", Old: from, New: to, Err: err}
	}
}

// A USB stick with FAT answers EPERM to a link. The other errors are in the manuals of link and
// renameat2.
func TestANewFileIsWrittenOnEveryFileSystem(t *testing.T) {
	t.Parallel()
	ways := map[string]naming{
		"with links":                    {os.Link, failing(unix.EIO)},
		"without links, as FAT":         {failing(unix.EPERM), renameNew},
		"without links, as of others":   {failing(unix.ENOTSUP), renameNew},
		"without links, as of programs": {failing(unix.ENOSYS), renameNew},
		"that replaces when it renames": {failing(unix.EPERM), failing(unix.EINVAL)},
		"of an old kernel":              {failing(unix.EPERM), failing(unix.ENOSYS)},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "new")
			write := func(w io.Writer) error {
				_, err := io.WriteString(w, "whole")
				return err
			}
			if err := way.written(file, write); err != nil {
				t.Fatal(err)
			}
			if err := way.written(file, write); err == nil || !strings.Contains(err.Error(), "is there already") {
				t.Errorf("once more: %v", err)
			}
			info, err := os.Stat(file)
			if files := clitest.ReadFiles(t, dir); err != nil || info.Mode().Perm() != 0o600 || len(files) != 1 || files["new"] != "whole" {
				t.Errorf("%v, %v: %q", err, info.Mode(), files)
			}
		})
	}
}

func TestAFileThatCameMeanwhileIsNotReplaced(t *testing.T) {
	t.Parallel()
	for name, way := range map[string]naming{
		"by a link":   {os.Link, failing(unix.EIO)},
		"by renaming": {failing(unix.EPERM), renameNew},
		"by copying":  {failing(unix.EPERM), failing(unix.EINVAL)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "new")
			err := way.written(file, func(io.Writer) error { return os.WriteFile(file, []byte("other"), 0o600) })
			if err == nil || err.Error() != file+" is there already; name another file, or remove it" {
				t.Errorf("got %v", err)
			}
			if files := clitest.ReadFiles(t, dir); len(files) != 1 || files["new"] != "other" {
				t.Errorf("there is %q", files)
			}
		})
	}
}

func TestANewFileThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	torn := errors.New("torn")
	for name, test := range map[string]struct {
		way   naming
		write error
		want  string
	}{
		"as it is written":              {naming{os.Link, renameNew}, torn, "torn"},
		"as it gets its name":           {naming{failing(unix.EIO), renameNew}, nil, "input/output error"},
		"as it gets its name otherwise": {naming{failing(unix.EPERM), failing(unix.EIO)}, nil, "input/output error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			err := test.way.written(filepath.Join(dir, "new"), func(io.Writer) error { return test.write })
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
			if files := clitest.ReadFiles(t, dir); len(files) > 0 {
				t.Errorf("there is %q", files)
			}
		})
	}
}
