package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/fswatch"
	"github.com/wardlet/wardlet/core/manifest"
)

// errFull is the error for a directory that exceeds the limits of Config.
var errFull = errors.New("remove what is not needed, or divide it among several sources")

// namesAtOnce is the number of names of a directory that are read at a time. restTime is the pause
// after a directory was found to exceed its limits.
const (
	namesAtOnce = 1024
	restTime    = time.Second
)

// manifests returns the names in a directory that are those of manifests, and counts the others. It
// stops reading when there are more than Config.MaxFiles.
func (s *Source) manifests(dir *os.File) (names []fs.DirEntry, err error) {
	for {
		some, err := dir.ReadDir(namesAtOnce)
		for _, n := range some {
			switch {
			case s.reads(n.Name()):
				names = append(names, n)
			case !isHidden(n.Name()):
				if s.ignored == nil {
					s.ignored = &api.Ignored{}
				}
				s.ignored.Add(n.Name(), n.IsDir())
			}
		}
		switch {
		case len(names) > s.cfg.MaxFiles:
			return nil, fmt.Errorf("%s holds more than %d manifests; %w", s.cfg.Path, s.cfg.MaxFiles, errFull)
		case errors.Is(err, io.EOF):
			return names, nil
		case err != nil:
			return nil, err
		}
	}
}

// within returns an error if the manifests together are larger than Config.MaxBytes.
func (s *Source) within(entries []entry) error {
	total := int64(0)
	for _, e := range entries {
		if total += e.counts(); total > s.cfg.MaxBytes {
			return fmt.Errorf("list manifests: the manifests in %s have more than %d bytes together; %w", s.cfg.Path, s.cfg.MaxBytes, errFull)
		}
	}
	return nil
}

// counts returns the size of a manifest for the limit MaxBytes. At most manifest.MaxManifest bytes
// of a manifest are read, so no more are counted.
func (e *entry) counts() int64 { return min(e.stamp.Size, manifest.MaxManifest) }

// fits reports whether the files are within the limits after these entries are added.
func (s *Source) fits(entries []entry) bool {
	files, total := len(s.files), s.bytes
	for i := range entries {
		total += entries[i].counts()
		if f := s.files[entries[i].name]; f != nil {
			total -= f.bytes
		} else {
			files++
		}
	}
	return files <= s.cfg.MaxFiles && total <= s.cfg.MaxBytes
}

// count updates the totals with the size and the documents of a file. If there is no room for the
// documents of a file, it is held: its running pods continue, and it is read again when there is
// room.
func (s *Source) count(f *file, e entry, from manifest.DecodeFrom) {
	s.bytes += e.counts() - f.bytes
	f.bytes = e.counts()
	s.documents += len(f.docs) - f.documents
	f.documents = len(f.docs)
	if f.documents < 2 || s.documents <= s.cfg.MaxFiles {
		return
	}
	err := fmt.Errorf("with the %d documents of this file the source has more than %d; %w", f.documents, s.cfg.MaxFiles, errFull)
	f.left = f.documents
	f.docs = []api.Document{manifest.HoldFile(from, 0, err)}
	s.documents -= f.documents - 1
	f.documents = 1
}

// readAgain marks a file for reading that was held for its many documents, if there is room for
// them now.
func (s *Source) readAgain(f *file) {
	if f.left > 0 && s.documents-f.documents+f.left <= s.cfg.MaxFiles {
		f.left, f.read = 0, fswatch.Stamp{}
	}
}

// drop removes a file from the state.
func (s *Source) drop(name string) {
	if f := s.files[name]; f != nil {
		s.bytes -= f.bytes
		s.documents -= f.documents
		delete(s.files, name)
	}
}

// overfill records that the directory exceeds its limits. It discards earlier events, because the
// next full listing replaces them.
func (s *Source) overfill(err error) {
	if !s.full {
		s.full = true
		s.cfg.Logger.Warn("the source is beyond its bounds; what was read last stays in force", "err", err)
	}
	clear(s.arrived)
	clear(s.late)
	clear(s.due)
	s.relist = true
}

// rest records events for a while without a look, so that a directory that is being filled is not
// listed for every file.
func (s *Source) rest(ctx context.Context) {
	timer := time.NewTimer(restTime)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			return
		case e, ok := <-s.watch.Events():
			if s.note(e, ok) {
				s.lookAt(s.cfg.Now())
			}
		case err, ok := <-s.watch.Errors():
			if s.noteGap(err, ok) {
				s.lookAt(s.cfg.Now())
			}
		}
	}
}
