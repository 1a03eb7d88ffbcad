package policy

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsnotify/fsnotify"

	"github.com/wardlet/wardlet/core/internal/fswatch"
)

// watch tells when something may have changed in the directory of a set. Without it the
// listings find everything, later.
type watch struct {
	fswatch.Watch

	dir string
	log *slog.Logger
}

func newWatch(dir string, log *slog.Logger) *watch { return &watch{dir: dir, log: log} }

// aim watches the directory and those below it that hold one of the names, or
// its parent while it is missing. Where that fails it is tried again with the
// next listing.
func (w *watch) aim(names map[string]fswatch.Stamp) {
	dirs := []string{w.dir}
	for name := range names {
		if dir := filepath.Join(w.dir, filepath.Dir(name)); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	if _, err := os.Stat(w.dir); errors.Is(err, fs.ErrNotExist) {
		dirs = []string{filepath.Dir(w.dir)}
	}
	err := w.Only(dirs...)
	switch news := w.Failed(err); {
	case news && err != nil:
		w.log.Warn("policies cannot be watched; changes are found by listing", "directory", w.dir, "period", listPeriod, "err", err)
	case news:
		w.log.Info("policies are watched again", "directory", w.dir)
	}
}

// concerns reports whether an event may mean another content of the set: it is
// of a document, of one of the names that were read, or of the directory.
func (w *watch) concerns(e fsnotify.Event, names map[string]fswatch.Stamp) bool {
	if e.Name == w.dir {
		return true
	}
	name, inside := strings.CutPrefix(e.Name, w.dir+"/")
	if !inside {
		return false
	}
	_, known := names[name]
	return known || isDocument(name) || isAbove(name, names)
}

// isAbove reports whether name is a directory on the way to one of names.
func isAbove(name string, names map[string]fswatch.Stamp) bool {
	for n := range names {
		if strings.HasPrefix(n, name+"/") {
			return true
		}
	}
	return false
}
