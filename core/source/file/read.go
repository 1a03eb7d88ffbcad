package file

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/wardlet/wardlet/core/internal/fswatch"
	"github.com/wardlet/wardlet/core/manifest"
)

// readWhole reads a file, or the beginning of one that is too large, and returns
// the stamp it had after that, or none where that is not of what was read. It
// never blocks, also where the name has meanwhile become that of a pipe.
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
	// One byte more than allowed: what is too large is refused by the decoder.
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
