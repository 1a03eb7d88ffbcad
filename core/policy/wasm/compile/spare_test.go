package compile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// spoilt returns a cache whose directory has become unwritable.
func spoilt(t *testing.T, change ...func(*Options)) *fixture {
	t.Helper()
	f := library(t, t.TempDir()+"/cache", change...)
	check(t, os.RemoveAll(f.dir))
	check(t, os.WriteFile(f.dir, nil, 0o600)) // nothing can be created below a file
	return f
}

func TestADirectoryThatCannotBeWrittenToCostsNoPlugin(t *testing.T) {
	t.Parallel()
	memory := t.TempDir()
	f := spoilt(t, func(o *Options) { o.Spare = []string{"/nowhere", memory} })
	for n := range int32(3) {
		code := acquire(t, f, small(n))
		answers(t, f, code, n)
		code.Release()
		acquire(t, f, small(n)).Release() // this time from the spare directory
	}
	if n := f.children(t); n != 3 {
		t.Errorf("%d children, want 3", n)
	}
	_, err := f.Acquire(t.Context(), "", Whole([]byte("no module")))
	refused, ok := errors.AsType[*Refused](err)
	_, again := f.Acquire(t.Context(), "", Whole([]byte("no module")))
	if !ok || again == nil || again.Error() != err.Error() || f.children(t) != 4 || *f.cache.Refused(refused.Digest) != *refused {
		t.Errorf("refused: %v, and again: %v, %d children", err, again, f.children(t))
	}
	check(t, f.cache.Forget(refused.Digest))
	if r := f.cache.Refused(refused.Digest); r != nil {
		t.Errorf("not forgotten: %v", r)
	}
	if n := strings.Count(f.out.String(), "they are kept in memory, until the agent ends"); n != 1 || strings.Count(f.out.String(), "\n") != 1 {
		t.Errorf("log %s", f.out)
	}
	info, err := os.Stat(filepath.Dir(f.cache.spare.dir))
	if err != nil || info.Mode().Perm() != 0o700 || filepath.Dir(f.cache.memory.path) != memory {
		t.Errorf("%s: %v, %v", f.cache.memory.path, info, err)
	}
	check(t, f.runtime.Close(t.Context()))
	check(t, f.cache.Close())
	isEmpty(t, memory)
	f.cache.memory = nil
}

func TestADirectoryThatCannotBeMadeCostsNoPlugin(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/file"
	check(t, os.WriteFile(file, nil, 0o600))
	modules := t.TempDir()
	check(t, os.Chmod(modules, 0o700))
	check(t, os.Symlink(t.TempDir(), modules+"/"+modulesDir))
	for name, dir := range map[string]string{"below a file": file + "/cache", "with a link in it": modules} {
		f := library(t, dir)
		code := acquire(t, f, small(2))
		answers(t, f, code, 2)
		code.Release()
		if n := strings.Count(f.out.String(), "they are kept in memory"); n != 1 {
			t.Errorf("%s: log %s", name, f.out)
		}
	}
}

func TestAChildThatFindsTheDiskFullIsRepeatedInMemory(t *testing.T) {
	t.Parallel()
	f := library(t, t.TempDir()+"/cache", acting("disk full"))
	code := acquire(t, f, small(2))
	answers(t, f, code, 2)
	code.Release()
	if !strings.Contains(f.out.String(), "no space left on device") || f.cache.spare == nil {
		t.Errorf("log %s", f.out)
	}
}

func TestWithoutAnyDirectoryThereIsNoCache(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/file"
	check(t, os.WriteFile(file, nil, 0o600))
	_, err := tryLibrary(t, file+"/cache", func(o *Options) { o.Spare = []string{"/nowhere", file} })
	if err == nil || !strings.Contains(err.Error(), "no directory for compiled plugins can be written to") {
		t.Error(err)
	}
	// The primary directory alone is enough.
	f := library(t, t.TempDir()+"/cache", func(o *Options) { o.Spare = []string{"/nowhere"} })
	code := acquire(t, f, small(2))
	answers(t, f, code, 2)
	code.Release()
}
