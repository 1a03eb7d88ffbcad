package compile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"unsafe"

	"github.com/tetratelabs/wazero"
	"golang.org/x/sys/unix"
)

// The image of a module is a file that holds its machine code and nothing else. wazero
// reads all the code into memory of its own. For a small Go plugin that is 9 MB, which the
// kernel cannot reclaim. But a plugin runs only a small part of its code, and most nodes
// call it rarely. So the agent maps the image over the memory that wazero has read. The
// bytes and their address stay the same. But only pages that run are in memory, and the
// kernel can reclaim them.

// imageName is the name of the image in an entry.
const imageName = "code.bin"

// errImage is the error if an image does not match the code.
var errImage = errors.New("its image of the code is another than the code")

// writeImage writes the image of a loaded module into dir; nil if wazero keeps no
// machine code of it.
func writeImage(dir string, module wazero.CompiledModule) (*codeFile, error) {
	code := machineCode(module)
	if code == nil {
		return nil, nil
	}
	path := filepath.Join(dir, imageName)
	if err := writeWhole(path, code); err != nil {
		return nil, err
	}
	image, err := fileAt(path)
	image.Name = imageName
	return &image, err
}

// layImage maps an image over the code of a module that was just loaded, and
// returns that memory. It changes nothing and returns nil if the system does not
// allow the file to be executed, for example because its file system is mounted
// noexec, and if wazero keeps the code elsewhere. No code of the module may run
// during layImage.
func layImage(module wazero.CompiledModule, image *os.File) ([]byte, error) {
	code := machineCode(module)
	if code == nil || image == nil {
		return nil, nil
	}
	info, err := image.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() != int64(len(code)) {
		return nil, errImage
	}
	const runs = unix.PROT_READ | unix.PROT_EXEC
	file := int(image.Fd())
	tried, err := unix.Mmap(file, 0, len(code), runs, unix.MAP_PRIVATE)
	if err != nil {
		return nil, nil //nolint:nilerr // it runs as wazero has read it
	}
	same := bytes.Equal(tried, code)
	if err := unix.Munmap(tried); err != nil {
		return nil, err
	}
	if !same {
		return nil, errImage
	}
	if _, err := unix.MmapPtr(file, 0, unsafe.Pointer(&code[0]), uintptr(len(code)), runs, unix.MAP_PRIVATE|unix.MAP_FIXED); err != nil {
		return nil, fmt.Errorf("map the image of the code: %w", err)
	}
	// Initialising a plugin runs long without returning to the host.
	_ = unix.Madvise(code, unix.MADV_POPULATE_READ) // Linux 5.14; otherwise each page is a page fault
	return code, nil
}

// drop releases the pages of mapped code. The next run has page faults.
func drop(laid []byte) error {
	if laid == nil {
		return nil
	}
	return unix.Madvise(laid, unix.MADV_DONTNEED)
}

// Trim records whether the user has run the code since its last Trim. If none of the
// users has, the pages of the code are released, once. The next run has page faults,
// as little as 1 µs each if the file is in the page cache. Trim is to be called about
// every 10 s.
func (c *Code) Trim(used bool) {
	l := c.library
	l.mu.Lock()
	defer l.mu.Unlock()
	h := c.held
	switch {
	case c.released:
		return
	case used && c.idle:
		h.idle--
		h.dropped = false
	case !used && !c.idle:
		h.idle++
	}
	if c.idle = !used; h.idle < h.users || h.dropped {
		return
	}
	h.dropped = true
	if err := drop(h.laid); err != nil {
		l.log.Warn("the memory of compiled code cannot be freed", "module", c.digest.String(), "error", err)
	}
}

// machineCode returns the memory in which wazero keeps the machine code of a
// module. It is nil if wazero keeps none, or keeps it in another place than this
// version of wazero does. wazero does not export that memory, so machineCode reads
// unexported fields; it writes to none. No module of the same runtime may be
// compiled or closed at the same time. wazero releases the memory when the module
// is closed.
func machineCode(module wazero.CompiledModule) []byte {
	known := field(field(reflect.ValueOf(module), "compiledEngine"), "compiledModules")
	id := field(field(reflect.ValueOf(module), "module"), "ID")
	if known.Kind() != reflect.Map || !id.IsValid() || id.Type() != known.Type().Key() {
		return nil
	}
	code := field(field(field(known.MapIndex(id), "compiledModule"), "executables"), "executable")
	if code.Kind() != reflect.Slice || code.Type().Elem().Kind() != reflect.Uint8 || code.Len() == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(code.UnsafePointer()), code.Len())
}

// field returns a field of a struct or of the struct that a pointer or interface
// leads to, the zero value if there is none.
func field(of reflect.Value, name string) reflect.Value {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Interface {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	return of.FieldByName(name)
}
