package agent

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// stamp is what changes when a file does, and links to it: that of what they
// lead to.
type stamp struct {
	there, regular bool
	dev, ino       uint64
	size           int64
	mtime, ctime   int64 // nanoseconds since 1970
}

// stampOf is the stamp of a file, zero where there is none.
func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return stamp{there: true, regular: info.Mode().IsRegular(), size: info.Size(), mtime: info.ModTime().UnixNano()}
	}
	return stamp{
		there: true, regular: info.Mode().IsRegular(),
		dev: uint64(st.Dev), ino: st.Ino, //nolint:unconvert // narrower on some architectures
		size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(),
	}
}

// fileWatch tells when a file may have changed: by the directory of its name,
// so that it is seen when another file, or another link, takes the name. Where
// the kernel tells nothing, looking now and then finds everything, later.
type fileWatch struct {
	dir, name string
	log       *slog.Logger
	// open makes a watcher.
	open    func() (*dirWatcher, error)
	watcher *dirWatcher
	// blind is true once it was said that there is no watch.
	blind bool
}

// dirWatcher is told by the kernel what happens in a directory.
type dirWatcher struct {
	events <-chan fsnotify.Event
	errors <-chan error
	// add watches a directory, also where it took the place of another.
	add   func(dir string) error
	close func() error
}

func openWatcher() (*dirWatcher, error) {
	w, err := fsnotify.NewBufferedWatcher(64)
	if err != nil {
		return nil, err
	}
	return &dirWatcher{events: w.Events, errors: w.Errors, add: w.Add, close: w.Close}, nil
}

func newFileWatch(path string, log *slog.Logger) *fileWatch {
	return &fileWatch{dir: filepath.Dir(path), name: filepath.Base(path), log: log, open: openWatcher}
}

func (w *fileWatch) events() <-chan fsnotify.Event {
	if w.watcher == nil {
		return nil
	}
	return w.watcher.events
}

func (w *fileWatch) errors() <-chan error {
	if w.watcher == nil {
		return nil
	}
	return w.watcher.errors
}

// concerns reports whether an event may mean another content: it is of the
// file, or it gave or took a name, for the file may be reached through links.
func (w *fileWatch) concerns(e fsnotify.Event) bool {
	return filepath.Base(e.Name) == w.name || e.Has(fsnotify.Create) || e.Has(fsnotify.Rename) || e.Has(fsnotify.Remove)
}

// aim watches the directory, unless it is missing. Where that fails it is
// tried again with the next look.
func (w *fileWatch) aim() {
	err := w.try()
	switch {
	case err == nil && w.blind:
		w.log.Info("the configuration is watched again", "directory", w.dir)
		w.blind = false
	case err != nil && !w.blind:
		w.log.Warn("the configuration cannot be watched; changes are found by looking at it", "directory", w.dir, "period", lookPeriod, "err", err)
		w.blind = true
	}
}

func (w *fileWatch) try() error {
	if w.watcher == nil {
		watcher, err := w.open()
		if err != nil {
			return err
		}
		w.watcher = watcher
	}
	if err := w.watcher.add(w.dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (w *fileWatch) close() {
	if w.watcher != nil {
		_ = w.watcher.close() // there is nothing to lose
		w.watcher = nil
	}
}
