package compile

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
)

// maxShell is the largest shell, in bytes: it is not longer than its module, but
// for its mark.
const maxShell = maxModule + 64

// maxFiles is how many files of code one module may become: wazero makes one.
const maxFiles = 1

// codeFile is a file of compiled code: its path below the directory that was
// given to wazero, its size in bytes, and the CRC-32C of its content.
type codeFile struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
	Sum  uint32 `json:"crc32c"`
}

// codeFiles are what one module became.
type codeFiles struct {
	// Files are the code, none where modules are interpreted.
	Files []codeFile `json:"files,omitempty"`
	// Shell is the module's shell, nil where there are no files.
	Shell *codeFile `json:"shell,omitempty"`
	// Image is the image of the code, nil where there is none.
	Image *codeFile `json:"image,omitempty"`
}

// all are the shell, the image and the code.
func (c *codeFiles) all() (all []codeFile) {
	for _, f := range []*codeFile{c.Shell, c.Image} {
		if f != nil {
			all = append(all, *f)
		}
	}
	return append(all, c.Files...)
}

// check sees that they are such as a child makes.
func (c *codeFiles) check() error {
	switch shell, image := c.Shell, c.Image; {
	case len(c.Files) > maxFiles:
		return fmt.Errorf("%d files of code, at most %d", len(c.Files), maxFiles)
	case (len(c.Files) > 0) != (shell != nil):
		return fmt.Errorf("%d files of code, and a shell: %v", len(c.Files), shell != nil)
	case shell != nil && (shell.Name != shellName || shell.Size < 0 || shell.Size > maxShell):
		return fmt.Errorf("a shell %q of %d bytes: want %s of at most %d", shell.Name, shell.Size, shellName, maxShell)
	case image != nil && (shell == nil || image.Name != imageName || image.Size < 1):
		return fmt.Errorf("an image %q of %d bytes, and a shell: %v; want %s of at least 1", image.Name, image.Size, shell != nil, imageName)
	}
	for _, f := range c.Files {
		engine, key, ok := strings.Cut(f.Name, "/")
		if !ok || !strings.HasPrefix(engine, "wazero-") || !isDigest(key) || !filepath.IsLocal(f.Name) || f.Size < 0 {
			return fmt.Errorf("a file of code %q of %d bytes: want wazero-VERSION/KEY", f.Name, f.Size)
		}
	}
	return nil
}

// isDigest says whether a name is 64 hexadecimal digits.
func isDigest(name string) bool {
	return len(name) == 64 && strings.Trim(name, "0123456789abcdef") == ""
}

// findFiles finds what wazero wrote to dir.
func findFiles(dir string) (files []codeFile, err error) {
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		f, err := fileAt(path)
		if err != nil {
			return err
		}
		f.Name, err = filepath.Rel(dir, path)
		files = append(files, f)
		return err
	})
	return files, err
}

// fileAt describes a file, but for its name.
func fileAt(path string) (f codeFile, err error) {
	opened, err := openRegular(path)
	if err != nil {
		return f, err
	}
	defer opened.Close()
	f.Size, f.Sum, err = measure(opened)
	return f, err
}

// read reads a file below dir and sees that it is whole.
func (f *codeFile) read(dir string) ([]byte, error) {
	opened, err := openRegular(filepath.Join(dir, f.Name))
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	text := make([]byte, f.Size)
	if _, err := io.ReadFull(opened, text); err != nil {
		return nil, fmt.Errorf("%s has less than %d bytes: %w", opened.Name(), f.Size, err)
	}
	if crc32.Checksum(text, castagnoli) != f.Sum {
		return nil, fmt.Errorf("%s does not match the checksum in its index", opened.Name())
	}
	return text, nil
}

// open opens a file of code below dir and sees that it is whole. What is read
// from it later is what was checked: files are replaced, never written to.
func (f *codeFile) open(dir string) (*os.File, error) {
	opened, err := openRegular(filepath.Join(dir, f.Name))
	if err != nil {
		return nil, err
	}
	info, err := opened.Stat()
	if err == nil && info.Size() != f.Size {
		err = fmt.Errorf("%s has %d bytes, its index says %d", opened.Name(), info.Size(), f.Size)
	}
	var sum uint32
	if err == nil {
		_, sum, err = measure(opened)
	}
	if err == nil && sum != f.Sum {
		err = fmt.Errorf("%s does not match the checksum in its index", opened.Name())
	}
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return opened, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// measure reads a whole file.
func measure(f *os.File) (size int64, sum uint32, err error) {
	buffer := make([]byte, 256<<10)
	for {
		n, err := f.Read(buffer)
		size, sum = size+int64(n), crc32.Update(sum, castagnoli, buffer[:n])
		if err == io.EOF {
			return size, sum, nil
		}
		if err != nil {
			return size, sum, err
		}
	}
}

// openRegular opens a regular file of this process's user. It follows no link
// and never blocks.
func openRegular(path string) (*os.File, error) {
	before, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() { // some devices do things when they are opened
		return nil, fmt.Errorf("%s is not a regular file, its mode is %v", path, before.Mode())
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !info.Mode().IsRegular() || !ok || int(stat.Uid) != os.Geteuid() {
			err = fmt.Errorf("%s is not a regular file of user %d", path, os.Geteuid())
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// errNotCached: wazero did not find the code where it looks for it.
var errNotCached = errors.New("wazero finds no code of it in its cache")

// neverCompile is a context with which wazero loads code it has, and compiles
// none. It has ended: wazero's workers look at that before they take a
// function, and only where there is more than one. The interpreter does not
// look; it has no code to keep.
func neverCompile(ctx context.Context) context.Context {
	ended, end := context.WithCancelCause(context.WithoutCancel(ctx))
	end(errNotCached)
	return experimental.WithCompilationWorkers(ended, 2)
}

// load loads the code of an opened entry, with the module's shell. wazero finds
// it under links to the files that are open here, so that whatever becomes of
// their names, it reads what was checked. Only one may load at a time. Where
// modules are interpreted it is the module itself that is loaded.
func (c *Cache) load(ctx context.Context, r wazero.Runtime, o *opened, source *Source) (_ wazero.CompiledModule, err error) {
	if c.interpreted {
		module, err := source.read()
		if err != nil {
			return nil, err
		}
		return r.CompileModule(ctx, module)
	}
	if o.shell == nil {
		return nil, errNotCached
	}
	dir := filepath.Join(c.view, c.engine)
	if err := os.MkdirAll(dir, 0o700); err != nil { // temporary files may have been cleared
		return nil, err
	}
	for i, f := range o.files {
		path := filepath.Join(c.view, o.Files[i].Name)
		_ = os.Remove(path) // nothing, unless it could not be removed last time
		if err := os.Symlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), path); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, os.Remove(path)) }()
	}
	return r.CompileModule(neverCompile(ctx), o.shell)
}

// isCacheFault says whether it is the cached code, not the module, that cannot
// be loaded.
func isCacheFault(err error) bool {
	if errors.Is(err, errNotCached) || errors.Is(err, errImage) {
		return true
	}
	text := err.Error() // wazero wraps none
	return strings.HasPrefix(text, "compilationcache: ") && !strings.Contains(text, syscall.ENOMEM.Error())
}
