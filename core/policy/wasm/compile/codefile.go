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

// maxShell is the largest shell, in bytes. A shell without its mark is no longer
// than its module.
const maxShell = maxModule + 64

// maxFiles is the most files of code for one module. wazero makes one.
const maxFiles = 1

// codeFile describes a file of compiled code: its path in the directory that was
// passed to wazero, its size in bytes, and the CRC-32C of its content.
type codeFile struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
	Sum  uint32 `json:"crc32c"`
}

// codeFiles are the files that were made from one module.
type codeFiles struct {
	// Files are the code, empty if modules are interpreted.
	Files []codeFile `json:"files,omitempty"`
	// Shell is the module's shell, nil if there are no files.
	Shell *codeFile `json:"shell,omitempty"`
	// Image is the image of the code, nil if there is none.
	Image *codeFile `json:"image,omitempty"`
}

// all returns the shell, the image and the code.
func (c *codeFiles) all() (all []codeFile) {
	for _, f := range []*codeFile{c.Shell, c.Image} {
		if f != nil {
			all = append(all, *f)
		}
	}
	return append(all, c.Files...)
}

// check returns an error if a child cannot have made these files.
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

// isDigest reports whether a name is 64 hexadecimal digits.
func isDigest(name string) bool {
	return len(name) == 64 && strings.Trim(name, "0123456789abcdef") == ""
}

// findFiles describes the files that wazero wrote to dir.
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

// fileAt returns the size and checksum of a file.
func fileAt(path string) (f codeFile, err error) {
	opened, err := openRegular(path)
	if err != nil {
		return f, err
	}
	defer opened.Close()
	f.Size, f.Sum, err = measure(opened)
	return f, err
}

// read reads a file in dir and checks its size and checksum.
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

// open opens a file of code in dir and checks its size and checksum. Later reads
// return the checked content, because files are replaced and never written to.
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

// measure returns the size and checksum of a file.
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

// errNotCached is the error if wazero did not find the code in its cache.
var errNotCached = errors.New("wazero finds no code of it in its cache")

// neverCompile returns a context with which wazero loads cached code but compiles none. The
// context is done. It also sets two workers, because with a single worker wazero does not
// check the context before it compiles a function. The interpreter does not check the
// context; it has no code to cache.
func neverCompile(ctx context.Context) context.Context {
	ended, end := context.WithCancelCause(context.WithoutCancel(ctx))
	end(errNotCached)
	return experimental.WithCompilationWorkers(ended, 2)
}

// load loads the code of an opened entry, with the module's shell. wazero reads the
// code through links to the open files, so it reads the checked content even if the
// files are renamed or removed. Only one goroutine may load at a time. If modules
// are interpreted, load prepares the module itself.
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
		_ = os.Remove(path) // fails, unless a link remained from last time
		if err := os.Symlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), path); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, os.Remove(path)) }()
	}
	return r.CompileModule(neverCompile(ctx), o.shell)
}

// isCacheFault reports whether the cached code is at fault for an error of load,
// and not the module.
func isCacheFault(err error) bool {
	if errors.Is(err, errNotCached) || errors.Is(err, errImage) {
		return true
	}
	text := err.Error() // wazero does not wrap errors
	return strings.HasPrefix(text, "compilationcache: ") && !strings.Contains(text, syscall.ENOMEM.Error())
}
