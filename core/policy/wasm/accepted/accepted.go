package accepted

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/wardlet/wardlet/core/policy/wasm/compile"
	"github.com/wardlet/wardlet/core/policy/wasm/verify"
)

// Module describes a module that was verified and rewritten. Hooks and Pages are
// checked again for each policy, because policies differ in them.
type Module struct {
	// Metered is the digest of the module after it was rewritten, as it is
	// compiled. Globals are the names of the module's own mutable numeric globals.
	Metered compile.Digest `json:"metered"`
	Globals []string       `json:"globals"`
	// Hooks are the hooks that the module exports, sorted. Pages is the initial
	// size of its memory.
	Hooks []string `json:"hooks"`
	Pages uint64   `json:"pages"`
}

const (
	// subdirectory is a directory within the directory of compiled code.
	subdirectory = "accepted"
	// maxFiles is how many files are kept. maxBytes is how much of a
	// file is read.
	maxFiles = 512
	maxBytes = 64 << 10
)

// Files stores descriptions of accepted modules, so that they need not be
// verified and rewritten again after a restart. If a file cannot be read or
// written, the module is verified and rewritten again.
type Files struct {
	dir string
	// revision identifies the program and the caps that the descriptions depend on.
	revision string
	log      *slog.Logger
}

// content is the second line of a file, as JSON. The first line is the digest
// of the second.
type content struct {
	Revision string `json:"revision"`
	// Module is the digest of the module that Accepted describes.
	Module   compile.Digest `json:"module"`
	Accepted Module         `json:"accepted"`
}

// New returns the files below the directory of compiled code.
func New(cacheDir string, caps verify.Caps, log *slog.Logger) *Files {
	return &Files{dir: filepath.Join(cacheDir, subdirectory), revision: fmt.Sprintf("%s, %+v", programID(), caps), log: log}
}

// programID identifies this program by its build ID, because another version may
// have the same size and time. A program without a build ID is identified by its
// content.
var programID = sync.OnceValue(func() string {
	const self = "/proc/self/exe"
	if f, err := elf.Open(self); err == nil {
		defer f.Close()
		if note := f.Section(".note.go.buildid"); note != nil {
			if id, err := note.Data(); err == nil && len(id) > 0 {
				return hex.EncodeToString(id)
			}
		}
	}
	sum := sha256.New()
	if f, err := os.Open(self); err == nil {
		defer f.Close()
		if _, err := io.Copy(sum, f); err == nil {
			return hex.EncodeToString(sum.Sum(nil))
		}
	}
	return "" // load then returns nil for every module
})

func (f *Files) path(sum [sha256.Size]byte) string {
	return filepath.Join(f.dir, hex.EncodeToString(sum[:]))
}

// Load returns the description of the module with the digest sum, nil if this
// program has not accepted that module.
func (f *Files) Load(sum [sha256.Size]byte) *Module {
	file, err := os.OpenFile(f.path(sum), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(file, maxBytes))
	if err != nil {
		return nil
	}
	digest, line, _ := bytes.Cut(text, []byte{'\n'})
	var known content
	if string(digest) != lineDigest(line) || json.Unmarshal(line, &known) != nil || known.Revision != f.revision || known.Module != sum || programID() == "" {
		return nil
	}
	return &known.Accepted
}

func lineDigest(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:])
}

// Store writes the description of a module to a file.
func (f *Files) Store(sum [sha256.Size]byte, a *Module) {
	if err := f.write(sum, a); err != nil {
		f.log.Debug("what is known of a module is not kept; the next start takes longer", "directory", f.dir, "error", err)
	}
}

func (f *Files) write(sum [sha256.Size]byte, a *Module) error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	line, err := json.Marshal(content{f.revision, sum, *a})
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(f.dir, ".new-*")
	if err != nil {
		return err
	}
	_, err = file.WriteString(lineDigest(line) + "\n" + string(line))
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), f.path(sum))
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return f.prune()
}

// prune removes the oldest files if there are more than maxFiles.
func (f *Files) prune() error {
	entries, err := os.ReadDir(f.dir)
	if err != nil || len(entries) <= maxFiles {
		return err
	}
	var files []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for _, old := range files[:max(len(files)-maxFiles, 0)] {
		err = errors.Join(err, os.Remove(filepath.Join(f.dir, old.Name())))
	}
	return err
}
