package compile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
)

func TestTheAgentCompilesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, module := range map[string][]byte{"a bomb": bomb(1000, 800), "a small one": small(1), "a broad one": broad(1 << 20)} {
		ctx := neverCompile(context.Background())
		err := withCache(ctx, dir, config(false), func(r wazero.Runtime) error {
			_, err := r.CompileModule(ctx, module)
			return err
		})
		if !errors.Is(err, errNotCached) || !isCacheFault(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if files, err := findFiles(dir); err != nil || len(files) > 0 {
		t.Errorf("made %v, %v", files, err)
	}
}

// stored returns the directory of a module's entry, and the path of the entry's code file.
func stored(t *testing.T, f *fixture, module []byte) (dir, code string) {
	t.Helper()
	dir = f.cache.primary.modulePath(digestOf(module))
	found, err := filepath.Glob(filepath.Join(dir, "wazero-*", "*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	return dir, found[0]
}

// reindex replaces a text in the index of an entry.
func reindex(dir, from, to string) error {
	path := filepath.Join(dir, indexName)
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), from) {
		return errors.Join(err, errors.New("no "+from))
	}
	return os.WriteFile(path, []byte(strings.ReplaceAll(string(text), from, to)), 0o600)
}

func TestABrokenEntryIsCompiledAgainByAChild(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		damage func(dir, code string) error
		// quiet is set if nothing must be logged: code of another version is not a fault.
		quiet bool
	}{
		"no entry":               {func(dir, _ string) error { return os.RemoveAll(dir) }, true},
		"no index":               {func(dir, _ string) error { return os.Remove(filepath.Join(dir, indexName)) }, true},
		"no code":                {func(_, code string) error { return os.Remove(code) }, true},
		"an index cut short":     {func(dir, _ string) error { return os.Truncate(filepath.Join(dir, indexName), 30) }, false},
		"an empty index":         {func(dir, _ string) error { return os.Truncate(filepath.Join(dir, indexName), 0) }, false},
		"a huge index":           {func(dir, _ string) error { return os.Truncate(filepath.Join(dir, indexName), 1<<40) }, false},
		"an index of another":    {func(dir, _ string) error { return reindex(dir, filepath.Base(dir), strings.Repeat("0", 64)) }, false},
		"an index that leads on": {func(dir, _ string) error { return reindex(dir, `"files":[{"name":"wazero-`, `"files":[{"name":"../`) }, false},
		"another version":        {func(dir, _ string) error { return reindex(dir, `"engine":"wazero-`, `"engine":"wazero-0.1-`) }, true},
		"an index that is a link": {func(dir, _ string) error {
			path := filepath.Join(dir, indexName)
			return errors.Join(os.Rename(path, path+"2"), os.Symlink(path+"2", path))
		}, false},
		"an index that is a pipe": {func(dir, _ string) error {
			path := filepath.Join(dir, indexName)
			return errors.Join(os.Remove(path), mkfifo(path))
		}, false},
		"an index that is a directory": {func(dir, _ string) error {
			path := filepath.Join(dir, indexName)
			return errors.Join(os.Remove(path), os.MkdirAll(path+"/a/b", 0o700))
		}, false},
		"an entry that is a file": {func(dir, _ string) error { return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)) }, false},
		"an entry that is a link": {func(dir, _ string) error {
			return errors.Join(os.Rename(dir, dir+"2"), os.Symlink(dir+"2", dir))
		}, false},
		"an entry others may enter": {func(dir, _ string) error { return os.Chmod(dir, 0o755) }, false},
		"empty code":                {func(_, code string) error { return os.Truncate(code, 0) }, false},
		"code cut short":            {func(_, code string) error { return os.Truncate(code, 50) }, false},
		"code that was changed": {func(_, code string) error {
			data, err := os.ReadFile(code)
			if err == nil {
				data[len(data)/2] ^= 1
				err = os.WriteFile(code, data, 0o600)
			}
			return err
		}, false},
		"code that is a link": {func(_, code string) error {
			return errors.Join(os.Rename(code, code+"2"), os.Symlink(code+"2", code))
		}, false},
		"code that is a pipe":   {func(_, code string) error { return errors.Join(os.Remove(code), mkfifo(code)) }, false},
		"code that is a device": {func(_, code string) error { return errors.Join(os.Remove(code), os.Symlink("/dev/zero", code)) }, false},
		"code under a name that wazero does not ask for": {func(dir, code string) error {
			other := strings.Repeat("0", 64)
			return errors.Join(os.Rename(code, filepath.Join(filepath.Dir(code), other)), reindex(dir, filepath.Base(code), other))
		}, false},
		"code that wazero does not take, rightly indexed": {func(dir, code string) error {
			files := codeFile{Name: filepath.Base(filepath.Dir(code)) + "/" + filepath.Base(code)}
			if err := os.WriteFile(code, []byte(strings.Repeat("no code ", 20)), 0o600); err != nil {
				return err
			}
			return rewriteIndex(dir, files)
		}, false},
		"an index without code": {func(dir, _ string) error { return rewriteIndex(dir) }, false},
		"no shell":              {func(dir, _ string) error { return os.Remove(filepath.Join(dir, shellName)) }, true},
		"a shell cut short":     {func(dir, _ string) error { return os.Truncate(filepath.Join(dir, shellName), 20) }, false},
		"a shell that was changed": {func(dir, _ string) error {
			path := filepath.Join(dir, shellName)
			data, err := os.ReadFile(path)
			if err == nil {
				data[len(data)-1] ^= 1
				err = os.WriteFile(path, data, 0o600)
			}
			return err
		}, false},
		"a shell that is a link": {func(dir, _ string) error {
			path := filepath.Join(dir, shellName)
			return errors.Join(os.Rename(path, path+"2"), os.Symlink(path+"2", path))
		}, false},
		"no image":           {func(dir, _ string) error { return os.Remove(filepath.Join(dir, imageName)) }, true},
		"an image cut short": {func(dir, _ string) error { return os.Truncate(filepath.Join(dir, imageName), 20) }, false},
		"an image of other code": {func(dir, _ string) error {
			path := filepath.Join(dir, imageName)
			data, err := os.ReadFile(path)
			if err == nil {
				data[len(data)/2] ^= 1
				err = os.WriteFile(path, data, 0o600)
			}
			return err
		}, false},
		"an image of more code, rightly indexed": {func(dir, _ string) error {
			path := filepath.Join(dir, imageName)
			info, err := os.Stat(path)
			if err == nil {
				err = errors.Join(os.Truncate(path, info.Size()+10000), reindex(dir, fmt.Sprintf(`"image":{"name":"code.bin","size":%d,`, info.Size()),
					fmt.Sprintf(`"image":{"name":"code.bin","size":%d,`, info.Size()+10000)))
			}
			return err
		}, false},
		"an image that is a link": {func(dir, _ string) error {
			path := filepath.Join(dir, imageName)
			return errors.Join(os.Rename(path, path+"2"), os.Symlink(path+"2", path))
		}, false},
		"an index that leads on to an image": {func(dir, _ string) error { return reindex(dir, `"image":{"name":"`, `"image":{"name":"../`) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := library(t, t.TempDir()+"/cache")
			acquire(t, f, small(4)).Release()
			check(t, test.damage(stored(t, f, small(4))))
			code := acquire(t, f, small(4))
			answers(t, f, code, 4)
			code.Release()
			if n := f.children(t); n != 2 {
				t.Errorf("%d children, want 2", n)
			}
			if said := strings.Contains(f.out.String(), "it is compiled again"); said == test.quiet {
				t.Errorf("log %s", f.out)
			}
			stored(t, f, small(4))
			acquire(t, f, small(4)).Release()
			if n := f.children(t); n != 2 {
				t.Errorf("%d children: it was not put in order", n)
			}
		})
	}
}

// rewriteIndex replaces the index of an entry by one that matches these files as they are.
func rewriteIndex(dir string, files ...codeFile) error {
	index, err := os.Open(filepath.Join(dir, indexName))
	if err != nil {
		return err
	}
	defer index.Close()
	e, err := readEntry(index)
	if err != nil {
		return err
	}
	for i := range files {
		f, err := os.Open(filepath.Join(dir, files[i].Name))
		if err != nil {
			return err
		}
		files[i].Size, files[i].Sum, err = measure(f)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	if e.Files = files; len(files) == 0 {
		e.Shell = nil
	}
	return errors.Join(os.Remove(filepath.Join(dir, indexName)), writeEntry(dir, &e, testTime))
}

// TestCodeIsCheckedBeforeWazeroReadsIt changes a count before the code. wazero has a checksum
// of the code, but none of the counts, and allocates as much memory as they say.
func TestCodeIsCheckedBeforeWazeroReadsIt(t *testing.T) {
	t.Parallel()
	f := library(t, t.TempDir()+"/cache")
	acquire(t, f, small(4)).Release()
	_, code := stored(t, f, small(4))
	data, err := os.ReadFile(code)
	check(t, err)
	functions := len("WAZEVO") + 1 + int(data[len("WAZEVO")])
	data[functions+3] ^= 0x10 // 268 million more
	check(t, os.WriteFile(code, data, 0o600))
	acquire(t, f, small(4)).Release()
	if !strings.Contains(f.out.String(), "does not match the checksum in its index") || f.children(t) != 2 {
		t.Errorf("%d children, log %s", f.children(t), f.out)
	}
}

func TestWhatWasCheckedIsWhatIsLoaded(t *testing.T) {
	t.Parallel()
	f := library(t, t.TempDir()+"/cache")
	acquire(t, f, small(6)).Release()
	entry, _, err := f.cache.open(digestOf(small(6)))
	check(t, err)
	// The files of the entry are removed between the check and the load.
	check(t, os.RemoveAll(filepath.Join(f.dir, modulesDir)))
	check(t, os.RemoveAll(f.cache.view))
	module, err := f.cache.load(t.Context(), f.runtime, entry, new(Whole(small(6))))
	check(t, err)
	answers(t, f, &Code{held: &held{module: module}}, 6)
	check(t, errors.Join(module.Close(t.Context()), entry.closeFiles(), entry.close()))
}

func TestADirectoryThatIsTakenAwayCostsNoPlugin(t *testing.T) {
	t.Parallel()
	f := library(t, t.TempDir()+"/cache")
	check(t, os.RemoveAll(f.dir))
	code := acquire(t, f, small(2))
	answers(t, f, code, 2)
	code.Release()
	if !strings.Contains(f.out.String(), "they are kept in memory") {
		t.Errorf("log %s", f.out)
	}
}
