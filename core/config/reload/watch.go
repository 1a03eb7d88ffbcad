package reload

import (
	"log/slog"
	"os"
	"path/filepath"

	"github.com/fsnotify/fsnotify"

	"github.com/wardlet/wardlet/core/internal/fswatch"
)

// stamp is a state of a file that changes with the file. For a link, it is the state of the target.
type stamp struct {
	fswatch.Stamp

	there, regular bool
}

// stampOf returns the stamp of a file, zero if there is none.
func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{fswatch.StampOf(info), true, info.Mode().IsRegular()}
}

// fileWatch notifies when a file may have changed. It watches the file's directory, so that it
// detects another file or link with the same name. Without notifications of the kernel, regular
// checks find all changes later.
type fileWatch struct {
	fswatch.Watch

	dir, name string
	log       *slog.Logger
}

func newFileWatch(path string, log *slog.Logger) *fileWatch {
	return &fileWatch{dir: filepath.Dir(path), name: filepath.Base(path), log: log}
}

// concerns reports whether an event may mean another content: it is about the file, or a name in
// the directory was added or removed, because the file may be reached through links.
func (w *fileWatch) concerns(e fsnotify.Event) bool {
	return filepath.Base(e.Name) == w.name || e.Has(fsnotify.Create) || e.Has(fsnotify.Rename) || e.Has(fsnotify.Remove)
}

// aim watches the directory unless it is missing. A failure is retried at the next check.
func (w *fileWatch) aim() {
	err := w.Only(w.dir)
	switch news := w.Failed(err); {
	case news && err != nil:
		w.log.Warn("the configuration cannot be watched; changes are found by looking at it", "directory", w.dir, "period", lookPeriod, "err", err)
	case news:
		w.log.Info("the configuration is watched again", "directory", w.dir)
	}
}
