package fswatch

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/fsnotify/fsnotify"
)

// Backend is the source of events: inotify, or a test.
type Backend struct {
	Events chan fsnotify.Event
	Errors chan error
	// Add watches a directory. It also watches the new directory if a watched one was replaced. Remove
	// returns an error if the directory is gone, and the watch with it.
	Add, Remove func(dir string) error
	// List returns the watched directories.
	List func() []string
	// Close closes both channels.
	Close func() error
}

// Inotify returns a backend that buffers up to 1024 events.
func Inotify() (*Backend, error) {
	w, err := fsnotify.NewBufferedWatcher(1024)
	if err != nil {
		return nil, err
	}
	return &Backend{Events: w.Events, Errors: w.Errors, Add: w.Add, Remove: remover(w), List: w.WatchList, Close: w.Close}, nil
}

// remover returns Remove of a watcher without its panic. fsnotify 1.10 panics for a link that was
// watched, was swapped to a directory that is watched under another name, and was added again: it
// has dropped the watch but not the name. By the time it panics the name is dropped too.
func remover(w *fsnotify.Watcher) func(dir string) error {
	return func(dir string) (err error) {
		defer func() {
			if recover() != nil {
				err = fsnotify.ErrNonExistentWatch
			}
		}()
		return w.Remove(dir)
	}
}

// Watch watches directories. The zero Watch uses Inotify and watches none yet.
type Watch struct {
	// Open makes a backend; nil is Inotify.
	Open func() (*Backend, error)

	backend *Backend
	failed  bool
}

// Events returns the channel of events, nil without a backend. The channel is closed when the
// backend fails; then the user must call Close.
func (w *Watch) Events() <-chan fsnotify.Event {
	if w.backend == nil {
		return nil
	}
	return w.backend.Events
}

// Errors returns the channel of errors, each of which means that events were lost. Otherwise it is
// like Events.
func (w *Watch) Errors() <-chan error {
	if w.backend == nil {
		return nil
	}
	return w.backend.Errors
}

// Start creates a backend unless there is one.
func (w *Watch) Start() (made bool, err error) {
	if w.backend != nil {
		return false, nil
	}
	open := w.Open
	if open == nil {
		open = Inotify
	}
	w.backend, err = open()
	return err == nil, err
}

// Started reports whether there is a backend.
func (w *Watch) Started() bool { return w.backend != nil }

// Add watches a directory or a file. There must be a backend.
func (w *Watch) Add(path string) error { return w.backend.Add(path) }

// Remove ends the watch of a directory, if there is one. There must be a backend.
func (w *Watch) Remove(dir string) { _ = w.backend.Remove(dir) } // if the directory is gone, its watch is gone, too

// Watches reports whether the directory is watched. The watch of a directory that is moved, removed
// or unmounted ends.
func (w *Watch) Watches(dir string) bool { return slices.Contains(w.Dirs(), dir) }

// Dirs returns the watched directories.
func (w *Watch) Dirs() []string {
	if w.backend == nil {
		return nil
	}
	return w.backend.List()
}

// Only watches exactly these directories, except missing ones. It also watches a directory that
// replaced a watched one.
func (w *Watch) Only(dirs ...string) error {
	if _, err := w.Start(); err != nil {
		return err
	}
	for _, old := range w.Dirs() {
		if !slices.Contains(dirs, old) {
			w.Remove(old)
		}
	}
	for _, dir := range dirs {
		if err := w.Add(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Failed records whether watching fails, and why. It reports whether that has changed, so that it
// must be logged.
func (w *Watch) Failed(err error) (news bool) {
	news = w.failed != (err != nil)
	w.failed = err != nil
	return news
}

// Close ends the watch, which may be started again.
func (w *Watch) Close() {
	if w.backend != nil {
		_ = w.backend.Close() // there is nothing to lose
		w.backend = nil
	}
}
