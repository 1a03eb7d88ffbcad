package decisions

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
)

func TestOfAStateDirectoryOnlyFilesAndDirectoriesAreOpened(t *testing.T) {
	t.Parallel()
	dir, elsewhere := t.TempDir(), t.TempDir()
	check(t, os.WriteFile(filepath.Join(elsewhere, "file"), []byte("text"), 0o600))
	check(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	check(t, os.WriteFile(filepath.Join(dir, "sub", "file"), []byte("text"), 0o600))
	check(t, os.MkdirAll(filepath.Join(dir, "state", "sub"), 0o700))
	check(t, os.Symlink("file", filepath.Join(dir, "sub", "link")))
	check(t, os.Symlink(elsewhere, filepath.Join(dir, "linked")))
	check(t, syscall.Mkfifo(filepath.Join(dir, "sub", "pipe"), 0o600))
	for name, want := range map[string]string{
		"sub/file": "", "sub": "", ".": "", "sub/link": "neither a directory nor a regular file", "linked/file": "neither a directory nor a regular file",
		"sub/pipe": "neither a directory nor a regular file", "sub/none": "no such file", "../file": "invalid", "sub/file/more": "not a directory",
	} {
		f, err := FilesOf(dir).Open(name)
		if err == nil {
			check(t, f.Close())
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
		if err != nil && strings.Contains(err.Error(), dir) {
			t.Errorf("%s: the error names the directory: %v", name, err)
		}
	}
	link := filepath.Join(elsewhere, "state")
	check(t, os.Symlink(dir, link))
	check(t, os.WriteFile(filepath.Join(dir, "state", "sub", "file"), []byte("text"), 0o600))
	check(t, fstest.TestFS(FilesOf(filepath.Join(dir, "state")), "sub/file"))
	if _, err := fs.ReadFile(FilesOf(link), "sub/file"); err != nil {
		t.Errorf("the state directory itself may be a link: %v", err)
	}
}

// TestAPipeAmongTheRecordsIsDamage checks that a pipe is damage. Opening the pipe would block.
func TestAPipeAmongTheRecordsIsDamage(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"segment", "policy"} {
		dir := t.TempDir()
		check(t, os.CopyFS(dir, aFewRecords(t)))
		pattern := filepath.Join(dir, DirName, filesDir, digestOf([]byte("module two"))+fileSuffix)
		if where == "segment" {
			pattern = filepath.Join(dir, DirName, "tenant-a", "*"+segmentSuffix)
		}
		names, err := filepath.Glob(pattern)
		check(t, err)
		check(t, os.Remove(names[0]))
		check(t, syscall.Mkfifo(names[0], 0o600))
		read, faults := told(FilesOf(dir))
		if len(faults) != 1 || !strings.Contains(faults[0], "regular file") || !strings.Contains(faults[0], filepath.Base(names[0])) {
			t.Errorf("%s: faults %q", where, faults)
		}
		if len(read) < 3 {
			t.Errorf("%s: only %d records are read", where, len(read))
		}
	}
}
