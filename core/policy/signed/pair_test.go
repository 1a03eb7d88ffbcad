package signed

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/strict"
)

func write(tb testing.TB, dir, name, text string) {
	tb.Helper()
	must(tb, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}

// names returns the names of the files in a directory.
func names(tb testing.TB, dir string) []string {
	tb.Helper()
	entries, err := os.ReadDir(dir)
	must(tb, err)
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestAPairIsWrittenAndReadAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, err := Read(dir)
	must(t, err)
	if p.Manifest != nil || p.Signature != nil {
		t.Errorf("an empty directory has %+v", p)
	}
	for revision := range uint64(3) {
		p, err := Sign(revision+1, three(), secretKey(t), noon)
		must(t, err)
		must(t, p.Write(dir))
		got, err := Read(dir)
		must(t, err)
		if diff := cmp.Diff(p, got); diff != "" {
			t.Errorf("read (-want +got):\n%s", diff)
		}
	}
	if diff := cmp.Diff([]string{"set.toml", "set.toml.minisig"}, names(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for _, name := range names(t, dir) {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("%s: mode %v, error %v; want it readable by all", name, info.Mode(), err)
		}
	}
}

// TestBetweenTheRenamesTheSetIsRefused simulates a crash between the two renames with a
// manifest that cannot be replaced.
func TestBetweenTheRenamesTheSetIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old, err := Sign(1, three(), secretKey(t), noon)
	must(t, err)
	must(t, old.Write(dir))
	manifest := filepath.Join(dir, ManifestName)
	must(t, os.Remove(manifest))
	must(t, os.MkdirAll(filepath.Join(manifest, "full"), 0o700))

	next, err := Sign(2, three(), secretKey(t), noon)
	must(t, err)
	if err := next.Write(dir); err == nil {
		t.Fatal("a directory was replaced by the manifest")
	}
	if diff := cmp.Diff([]string{"set.toml", "set.toml.minisig"}, names(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	must(t, os.RemoveAll(manifest))
	write(t, dir, ManifestName, string(old.Manifest))
	got, err := Read(dir)
	must(t, err)
	if !bytes.Equal(got.Signature, next.Signature) {
		t.Error("the signature was not the first to be replaced")
	}
	if _, err := Verify(got.Manifest, got.Signature, []PublicKey{secretKey(t).Public()}); err == nil {
		t.Error("the old manifest verifies with the new signature")
	}
}

func TestAPairThatCannotBeWrittenLeavesTheOldOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old, err := Sign(1, three(), secretKey(t), noon)
	must(t, err)
	must(t, old.Write(dir))
	signature := filepath.Join(dir, SignatureName)
	must(t, os.Remove(signature))
	must(t, os.MkdirAll(filepath.Join(signature, "full"), 0o700))
	next, err := Sign(2, three(), secretKey(t), noon)
	must(t, err)
	if err := next.Write(dir); err == nil {
		t.Fatal("a directory was replaced by the signature")
	}
	text, err := os.ReadFile(filepath.Join(dir, ManifestName))
	must(t, err)
	if !bytes.Equal(text, old.Manifest) || len(names(t, dir)) != 2 {
		t.Errorf("the manifest is now\n%s\nand the files %v", text, names(t, dir))
	}
	if err := next.Write(filepath.Join(dir, "none")); err == nil {
		t.Error("a directory that is missing was written to")
	}
}

func TestOfADirectoryThatIsHostileNothingIsRead(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "outside")
	must(t, os.WriteFile(outside, []byte("secret"), 0o600))
	for name, test := range map[string]struct {
		make func(dir string) error
		want string
	}{
		"a link":             {func(dir string) error { return os.Symlink(outside, filepath.Join(dir, ManifestName)) }, "DIR/set.toml cannot be read: it is no regular file; put one in its place"},
		"a link to nowhere":  {func(dir string) error { return os.Symlink("/none", filepath.Join(dir, SignatureName)) }, "DIR/set.toml.minisig cannot be read: it is no regular file; put one in its place"},
		"a pipe":             {func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, ManifestName), 0o600) }, "DIR/set.toml cannot be read: it is no regular file; put one in its place"},
		"a directory":        {func(dir string) error { return os.Mkdir(filepath.Join(dir, ManifestName), 0o700) }, "DIR/set.toml cannot be read: it is no regular file; put one in its place"},
		"a file of no end":   {func(dir string) error { return truncate(filepath.Join(dir, ManifestName), 1<<40) }, "DIR/set.toml cannot be read: more than the 262144 bytes it may have"},
		"a byte too many":    {func(dir string) error { return truncate(filepath.Join(dir, SignatureName), MaxSignature+1) }, "DIR/set.toml.minisig cannot be read: more than the 16384 bytes it may have"},
		"both, each named":   {both, "DIR/set.toml cannot be read: it is no regular file; put one in its place\nDIR/set.toml.minisig cannot be read: it is no regular file; put one in its place"},
		"as large as can be": {func(dir string) error { return truncate(filepath.Join(dir, ManifestName), strict.MaxSize) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			must(t, test.make(dir))
			_, err := Read(dir)
			if err != nil {
				wants(t, &renamed{err, dir}, test.want)
			} else {
				wants(t, nil, test.want)
			}
		})
	}
	if _, err := Read(outside); err == nil {
		t.Error("a file was read as a directory")
	}
}

// renamed is an error in whose text the directory is replaced by DIR.
type renamed struct {
	err error
	dir string
}

func (r *renamed) Error() string { return strings.ReplaceAll(r.err.Error(), r.dir, "DIR") }

func truncate(path string, size int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Truncate(size)
}

func both(dir string) error {
	if err := os.Mkdir(filepath.Join(dir, ManifestName), 0o700); err != nil {
		return err
	}
	return os.Mkdir(filepath.Join(dir, SignatureName), 0o700)
}
