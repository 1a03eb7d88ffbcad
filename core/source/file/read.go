package file

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/fswatch"
	"github.com/wardlet/wardlet/core/manifest"
)

// readWhole reads a file, or the beginning of one that is too large. It returns the file's stamp
// after the reading, or the zero stamp if its size does not match the data. It never blocks, even
// if the name has become that of a pipe.
func readWhole(path string) (data []byte, after fswatch.Stamp, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, fswatch.Stamp{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fswatch.Stamp{}, err
	}
	if !info.Mode().IsRegular() {
		return nil, fswatch.Stamp{}, fmt.Errorf("%s is not a regular file", path)
	}
	// One byte more than allowed is read, so that the decoder refuses a manifest that is too large.
	data = make([]byte, min(info.Size(), manifest.MaxManifest)+1)
	n, err := io.ReadFull(f, data)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fswatch.Stamp{}, err
	}
	data = data[:n]
	if info, err = f.Stat(); err != nil {
		return nil, fswatch.Stamp{}, err
	}
	after = fswatch.StampOf(info)
	if min(after.Size, manifest.MaxManifest+1) != int64(len(data)) {
		after = fswatch.Stamp{}
	}
	return data, after, nil
}

// reread reads and decodes the file. It returns false if the file changed during the reading or was
// removed.
func (f *file) reread(decode func([]byte, manifest.DecodeFrom) []api.Document, from manifest.DecodeFrom, now time.Time) bool {
	data, after, err := readWhole(from.File)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err != nil {
		f.fail(from, err)
		return true
	}
	if after != f.stamp {
		f.whole, f.quiet = false, now
		return false
	}
	sum := sha256.Sum256(data)
	if f.read == (fswatch.Stamp{}) || sum != f.sum {
		f.docs = decode(data, from)
	}
	f.tried, f.touched, f.read, f.sum = true, false, f.stamp, sum
	f.racy = now.Sub(time.Unix(0, f.stamp.Mtime)) < racyWindow
	return true
}

// fail records that the file cannot be read. The file is tried again at every look.
func (f *file) fail(from manifest.DecodeFrom, err error) {
	f.tried, f.read = true, fswatch.Stamp{}
	f.docs = []api.Document{manifest.HoldFile(from, 0, err)}
}
