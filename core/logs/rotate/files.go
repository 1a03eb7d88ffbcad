package rotate

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/wardlet/wardlet/core/logs"
)

// unfinishedSuffix ends the name of a copy during compression.
const unfinishedSuffix = ".tmp"

// rotate renames a log, makes the runtime open a new one, and compresses earlier rotated files.
// rotated is true if there is a new log, even if other steps failed.
func (r *Rotator) rotate(ctx context.Context, log, id string) (rotated bool, err error) {
	older, faults := r.removeExcess(log)
	var newest time.Time
	if len(older) > 0 {
		newest = older[len(older)-1].At
	}
	to := logs.RotatedPath(log, r.cfg.Now(), newest)
	if err := os.Rename(log, to); err != nil {
		return false, errors.Join(err, faults)
	}
	if err := r.reopen(ctx, id); err != nil {
		return false, errors.Join(err, putBack(to, log), faults)
	}
	for _, f := range older {
		if f.Compressed || ctx.Err() != nil {
			continue
		}
		if err := compress(ctx, f.Path); err != nil && !errors.Is(err, errChanged) {
			faults = errors.Join(faults, fmt.Errorf("compressing a rotated log, which stays as it is: %w", err))
		}
	}
	return true, faults
}

// putBack restores the name of a log that the runtime has not reopened. If the runtime has reopened
// it nevertheless, the log stays rotated.
func putBack(rotated, log string) error {
	err := os.Link(rotated, log)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.Remove(rotated)
}

// removeExcess removes unfinished copies, files that have a compressed copy, and the oldest files,
// so that after the rotation there are not more files than allowed. It returns the remaining files,
// the oldest first.
func (r *Rotator) removeExcess(log string) ([]logs.Rotated, error) {
	dir, base := filepath.Split(log)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var faults error
	remove := func(path string) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			faults = errors.Join(faults, err)
		}
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), base+".") && strings.HasSuffix(e.Name(), unfinishedSuffix) {
			remove(filepath.Join(dir, e.Name()))
		}
	}
	files, err := logs.ListRotated(log)
	if err != nil {
		return nil, errors.Join(faults, err)
	}
	var single []logs.Rotated
	for i, f := range files {
		if i+1 < len(files) && files[i+1].Path == f.Path+logs.CompressedSuffix {
			remove(f.Path)
			continue
		}
		single = append(single, f)
	}
	for len(single) > r.cfg.MaxFiles-2 {
		remove(single[0].Path)
		single = single[1:]
	}
	return single, faults
}

// errChanged is the error for a file that grew during its compression: the runtime still wrote
// buffered output to it. The next rotation compresses it.
var errChanged = errors.New("it was written to meanwhile")

// compress replaces a file by a compressed copy. If that fails, or ctx ends, it keeps the file and
// removes the copy.
func compress(ctx context.Context, path string) (err error) {
	// The flags prevent opening anything but a file that a pod could put in its place.
	source, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	defer source.Close()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file, its mode is %v; remove it", path, info.Mode())
	}
	unfinished := path + unfinishedSuffix
	target, err := os.OpenFile(unfinished, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(unfinished))
		}
	}()
	size, err := writeCompressed(ctx, target, source)
	// Readers use the file's time as the time of its last line.
	if err = errors.Join(err, target.Close(), os.Chtimes(unfinished, info.ModTime(), info.ModTime())); err != nil {
		return err
	}
	switch now, statErr := os.Lstat(path); {
	case errors.Is(statErr, fs.ErrNotExist):
		return os.Remove(unfinished) // the container is gone, and its logs with it
	case statErr != nil:
		return statErr
	case now.Size() != size:
		return fmt.Errorf("%s: %w", path, errChanged)
	}
	if err := os.Rename(unfinished, path+logs.CompressedSuffix); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// writeCompressed copies source to target until ctx ends, and returns the number of bytes read.
func writeCompressed(ctx context.Context, target io.Writer, source io.Reader) (int64, error) {
	// A pod that writes much must not use much processor time.
	w, err := gzip.NewWriterLevel(target, gzip.BestSpeed)
	if err != nil {
		return 0, err
	}
	size, err := io.Copy(w, contextReader{ctx, source})
	return size, errors.Join(err, w.Close())
}

// contextReader reads until its context ends.
type contextReader struct {
	ctx    context.Context
	source io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.source.Read(p)
}
