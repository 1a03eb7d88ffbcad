package bundle

import (
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/wardlet/wardlet/core/internal/fswatch"
)

// Watch delivers events when something may have changed in the directory of a set. Without
// events, listings find all changes, but later.
type Watch struct {
	fswatch.Watch

	dir    string
	period time.Duration
	log    *slog.Logger
}

// NewWatch returns a watch of a directory. period is how often the directory is listed;
// it is only logged.
func NewWatch(dir string, period time.Duration, log *slog.Logger) *Watch {
	return &Watch{dir: dir, period: period, log: log}
}

// Aim watches the directory and the directories below it that contain one of the names. If
// the directory is missing, Aim watches its parent. After a failure the next listing calls
// it again.
func (w *Watch) Aim(names map[string]fswatch.Stamp) {
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
		w.log.Warn("policies cannot be watched; changes are found by listing", "directory", w.dir, "period", w.period, "err", err)
	case news:
		w.log.Info("policies are watched again", "directory", w.dir)
	}
}

// Concerns reports whether an event may change the content of the set: it concerns a
// document, one of the names that were read, or the directory.
func (w *Watch) Concerns(e fsnotify.Event, names map[string]fswatch.Stamp) bool {
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

// Unchanged reports whether the names of the directory still have the stamps of an
// earlier bundle. It reads no file.
func Unchanged(dir string, stamps map[string]fswatch.Stamp) bool {
	d, err := OpenDirectory(dir)
	if err != nil {
		return false
	}
	defer d.Close()
	names, err := d.Documents()
	if err != nil {
		return false
	}
	now := make(map[string]fswatch.Stamp, len(stamps))
	for _, name := range names {
		now[name] = d.stamp(name)
	}
	for name := range stamps {
		now[name] = d.stamp(name)
	}
	return maps.Equal(now, stamps)
}

// Newest returns the time of the last change, zero for no file.
func Newest(stamps map[string]fswatch.Stamp) (last time.Time) {
	for _, s := range stamps {
		if changed := s.Changed(); changed.After(last) {
			last = changed
		}
	}
	return last
}
