package reload

import (
	"log/slog"
	"os"
	"path/filepath"

	"github.com/fsnotify/fsnotify"

	"github.com/wardlet/wardlet/core/internal/fswatch"
)

// stamp is what changes when a file does, and links to it: that of what they
// lead to.
type stamp struct {
	fswatch.Stamp

	there, regular bool
}

// stampOf is the stamp of a file, zero where there is none.
func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{fswatch.StampOf(info), true, info.Mode().IsRegular()}
}

// fileWatch tells when a file may have changed: by the directory of its name,
// so that it is seen when another file, or another link, takes the name. Where
// the kernel tells nothing, looking now and then finds everything, later.
type fileWatch struct {
	fswatch.Watch

	dir, name string
	log       *slog.Logger
}

func newFileWatch(path string, log *slog.Logger) *fileWatch {
	return &fileWatch{dir: filepath.Dir(path), name: filepath.Base(path), log: log}
}

// concerns reports whether an event may mean another content: it is of the
// file, or it gave or took a name, for the file may be reached through links.
func (w *fileWatch) concerns(e fsnotify.Event) bool {
	return filepath.Base(e.Name) == w.name || e.Has(fsnotify.Create) || e.Has(fsnotify.Rename) || e.Has(fsnotify.Remove)
}

// aim watches the directory, unless it is missing. Where that fails it is
// tried again with the next look.
func (w *fileWatch) aim() {
	err := w.Only(w.dir)
	switch news := w.Failed(err); {
	case news && err != nil:
		w.log.Warn("the configuration cannot be watched; changes are found by looking at it", "directory", w.dir, "period", lookPeriod, "err", err)
	case news:
		w.log.Info("the configuration is watched again", "directory", w.dir)
	}
}
