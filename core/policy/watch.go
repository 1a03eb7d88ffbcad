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
)

// watch tells when something may have changed. Without it the listings find
// everything, later.
type watch struct {
	dir string
	log *slog.Logger
	// open makes a watcher.
	open    func() (*fsnotify.Watcher, error)
	watcher *fsnotify.Watcher
	// listing is true once it was said that there is no watch.
	listing bool
}

func newWatch(dir string, log *slog.Logger) *watch {
	return &watch{dir: dir, log: log, open: func() (*fsnotify.Watcher, error) { return fsnotify.NewBufferedWatcher(1024) }}
}

func (w *watch) events() <-chan fsnotify.Event {
	if w.watcher == nil {
		return nil
	}
	return w.watcher.Events
}

func (w *watch) errors() <-chan error {
	if w.watcher == nil {
		return nil
	}
	return w.watcher.Errors
}

// aim watches the directory and those below it that hold one of the names, or
// its parent while it is missing. Where that fails it is tried again with the
// next listing.
func (w *watch) aim(names map[string]stamp) {
	err := w.try(names)
	switch {
	case err == nil && w.listing:
		w.log.Info("policies are watched again", "directory", w.dir)
		w.listing = false
	case err != nil && !w.listing:
		w.log.Warn("policies cannot be watched; changes are found by listing", "directory", w.dir, "period", listPeriod, "err", err)
		w.listing = true
	}
}

func (w *watch) try(names map[string]stamp) error {
	if w.watcher == nil {
		watcher, err := w.open()
		if err != nil {
			return err
		}
		w.watcher = watcher
	}
	dirs := []string{w.dir}
	for name := range names {
		if dir := filepath.Join(w.dir, filepath.Dir(name)); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	if _, err := os.Stat(w.dir); errors.Is(err, fs.ErrNotExist) {
		dirs = []string{filepath.Dir(w.dir)}
	}
	for _, old := range w.watcher.WatchList() {
		if !slices.Contains(dirs, old) {
			_ = w.watcher.Remove(old) // it fails where the directory is gone, and with it the watch
		}
	}
	for _, dir := range dirs {
		// Adding again costs a system call, and follows a directory that was
		// replaced. One that is missing is the reading's to report.
		if err := w.watcher.Add(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// concerns reports whether an event may mean another content of the set: it is
// of a document, of one of the names that were read, or of the directory.
func (w *watch) concerns(e fsnotify.Event, names map[string]stamp) bool {
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
func isAbove(name string, names map[string]stamp) bool {
	for n := range names {
		if strings.HasPrefix(n, name+"/") {
			return true
		}
	}
	return false
}

func (w *watch) close() {
	if w.watcher != nil {
		w.watcher.Close()
		w.watcher = nil
	}
}
