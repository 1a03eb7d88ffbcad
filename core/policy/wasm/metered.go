package wasm

import (
	"bytes"
	"cmp"
	"crypto/sha256"
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

	"golang.org/x/sys/unix"

	"github.com/wardlet/wardlet/core/policy/wasm/meter"
	"github.com/wardlet/wardlet/core/policy/wasm/verify"
)

const (
	// meteredDir holds the rewritten modules, below the directory of compiled
	// code.
	meteredDir = "metered"
	// maxMetered is how many are kept, maxMeteredBytes the largest that is read.
	maxMetered      = 128
	maxMeteredBytes = 64 << 20
	// maxMeteredHeader bounds what stands before the module.
	maxMeteredHeader = 64 << 10
)

// meteredFiles keeps modules as they were rewritten, so that a restart need not
// verify and rewrite them once more. It is a help, not a need: whatever fails
// costs the time that it would have saved.
type meteredFiles struct {
	dir string
	// revision is what made them: this program and its caps.
	revision string
	log      *slog.Logger
}

// meteredHeader stands before a module, as a line of JSON.
type meteredHeader struct {
	Revision string   `json:"revision"`
	SHA256   string   `json:"sha256"`
	Globals  []string `json:"globals"`
	Hooks    []string `json:"hooks"`
	Pages    uint64   `json:"pages"`
}

func newMeteredFiles(cacheDir string, caps verify.Caps, log *slog.Logger) *meteredFiles {
	program := "unknown"
	if info, err := os.Stat("/proc/self/exe"); err == nil {
		program = fmt.Sprintf("%d bytes of %d", info.Size(), info.ModTime().UnixNano())
	}
	return &meteredFiles{dir: filepath.Join(cacheDir, meteredDir), revision: fmt.Sprintf("%s, %+v", program, caps), log: log}
}

func (f *meteredFiles) path(sum [sha256.Size]byte) string {
	return filepath.Join(f.dir, hex.EncodeToString(sum[:]))
}

// load gives the rewritten form of a module of that digest, nil if there is
// none that this program made.
func (f *meteredFiles) load(sum [sha256.Size]byte) *accepted {
	file, err := os.OpenFile(f.path(sum), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxMeteredBytes {
		return nil
	}
	text := make([]byte, info.Size())
	if _, err := io.ReadFull(file, text); err != nil {
		return nil
	}
	end := bytes.IndexByte(text[:min(len(text), maxMeteredHeader)], '\n')
	var h meteredHeader
	if end < 0 || json.Unmarshal(text[:end], &h) != nil || h.Revision != f.revision {
		return nil
	}
	module := text[end+1:]
	if digest := sha256.Sum256(module); hex.EncodeToString(digest[:]) != h.SHA256 {
		return nil
	}
	return &accepted{Rewritten: meter.Rewritten{Binary: module, Globals: h.Globals}, hooks: h.Hooks, pages: h.Pages}
}

// store keeps the rewritten form of a module.
func (f *meteredFiles) store(sum [sha256.Size]byte, a *accepted) {
	if err := f.write(sum, a); err != nil {
		f.log.Debug("a rewritten module is not kept; the next start takes longer", "directory", f.dir, "error", err)
	}
}

func (f *meteredFiles) write(sum [sha256.Size]byte, a *accepted) error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	digest := sha256.Sum256(a.Binary)
	header, err := json.Marshal(meteredHeader{
		Revision: f.revision, SHA256: hex.EncodeToString(digest[:]), Globals: a.Globals, Hooks: a.hooks, Pages: a.pages,
	})
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(f.dir, ".new-*")
	if err != nil {
		return err
	}
	_, err = file.Write(slices.Concat(header, []byte{'\n'}, a.Binary))
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), f.path(sum))
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return f.prune()
}

// prune removes the oldest where there are too many.
func (f *meteredFiles) prune() error {
	entries, err := os.ReadDir(f.dir)
	if err != nil || len(entries) <= maxMetered {
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
	for _, old := range files[:max(len(files)-maxMetered, 0)] {
		err = errors.Join(err, os.Remove(filepath.Join(f.dir, old.Name())))
	}
	return err
}
