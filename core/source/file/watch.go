package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/wardlet/wardlet/core/internal/backoff"
	"github.com/wardlet/wardlet/core/internal/fswatch"
)

// watchDelays are the delays before a failed watch is tried again.
var watchDelays = backoff.Exponential{Min: time.Second, Max: 20 * time.Second}

// watchState is the watch, or the time of the next try to create one.
type watchState struct {
	fswatch.Watch

	fence *fence
	// dir is the watched directory, empty for none, inode its inode. links are the names of the
	// links that lead to dir, as events report them. led are the inodes of those links, by their
	// real paths.
	dir     string
	inode   fswatch.Inode
	links   map[string]bool
	led     map[string]fswatch.Inode
	retry   time.Time
	backoff time.Duration
}

// watching reports whether the directory is watched. The library drops a watch whose directory was
// moved, removed or unmounted.
func (w *watchState) watching() bool {
	return w.dir != "" && w.Watches(w.dir)
}

// keepWatching ensures that the directory of the next listing is watched. Without a watch the
// listings go on. A missing path is reported by the listing.
func (s *Source) keepWatching() {
	w, now := &s.watch, s.cfg.Now()
	if !w.watching() && now.Before(w.retry) {
		s.lookAt(w.retry)
		return
	}
	err := s.aim()
	if err == nil {
		if w.Failed(nil) {
			s.cfg.Logger.Info("watching again", "path", s.cfg.Path)
		}
		w.backoff = 0
		return
	}
	w.backoff = watchDelays.Next(w.backoff)
	w.retry = now.Add(w.backoff)
	s.lookAt(w.retry)
	if !errors.Is(err, fs.ErrNotExist) && w.Failed(err) {
		s.cfg.Logger.Warn("cannot watch; changes are found by listing", "path", s.cfg.Path, "period", s.cfg.Period, "err", err)
	}
}

// aim watches the directory of the path, and no other one. If it is already watched, aim costs few
// system calls.
func (s *Source) aim() error {
	w, dir := &s.watch, s.cfg.Path
	watched, before := w.watching(), w.dir
	info, err := os.Stat(dir)
	if err == nil && info.Mode().IsRegular() || err != nil && s.single {
		dir = filepath.Dir(dir)
	}
	made, err := w.Start()
	if err != nil {
		return err
	}
	if made {
		if w.fence, err = newFence(&w.Watch); err != nil {
			s.cfg.Logger.Info("files that are moved into place are read once they stand still", "path", s.cfg.Path, "err", err)
		}
	}
	var is fswatch.Inode
	if info, err := os.Stat(dir); err == nil {
		is = fswatch.StampOf(info).Inode
	}
	if w.dir != "" && (w.dir != dir || w.inode != is) {
		// A watch under the former name would otherwise keep that name.
		w.Remove(w.dir)
		w.forgetLinks()
	}
	w.dir = ""
	if err := w.Add(dir); err != nil {
		return err
	}
	if !watched || before != dir || w.inode != is {
		s.relist = true // earlier changes caused no events
	}
	w.dir, w.inode = dir, is
	s.watchLinks()
	if info, err := os.Stat(dir); err != nil || fswatch.StampOf(info).Inode != is {
		// A link was changed before its directory was watched: there is no event for that.
		s.lookAt(s.cfg.Now())
	}
	return nil
}

func (s *Source) stopWatching() {
	w := &s.watch
	if !w.Started() {
		return
	}
	w.Close()
	w.fence.close()
	w.fence, w.dir, w.links = nil, "", nil
}

// note records an event and reports whether to look at once. ok is false if the watch has ended.
func (s *Source) note(e fsnotify.Event, ok bool) (look bool) {
	name := filepath.Base(e.Name)
	switch {
	case !ok:
		s.loseWatch()
		return true
	case s.watch.fence.passed(e):
		return false
	}
	led := s.watch.links[e.Name]
	if led {
		s.relist, s.relinked = true, true
	}
	switch {
	case e.Name == s.watch.dir:
		s.relist = true // the directory itself changed, or is gone
		return true
	case filepath.Dir(e.Name) != s.watch.dir:
		return led
	}
	if s.reads(name) {
		s.due[name] = true
	}
	switch {
	case e.Has(fsnotify.Create):
		s.swapped = true
		s.arrived[name] = created
		return true
	case e.Has(fsnotify.Remove), e.Has(fsnotify.Rename):
		delete(s.arrived, name)
		return true
	case e.Has(fsnotify.Write) && s.reads(name):
		delete(s.arrived, name)
		if f := s.files[name]; f != nil {
			// The file must be unchanged from now on.
			if e, ok := s.stat(name, false); ok && e.err == nil && e.stamp.Inode == f.stamp.Inode {
				f.stamp = e.stamp
			}
			f.whole, f.touched, f.quiet = false, true, s.cfg.Now()
		}
		s.lookAt(s.cfg.Now().Add(s.cfg.Settle))
	case e.Has(fsnotify.Chmod):
		return s.reads(name)
	}
	return false
}

// loseWatch stops the watch and schedules a new try.
func (s *Source) loseWatch() {
	s.relist = true
	s.stopWatching()
	s.watch.retry = s.cfg.Now().Add(watchDelays.Min)
}

// noteGap records that events were lost: every file may have been written. It reports whether to
// look at once. ok is false if the watch has ended.
func (s *Source) noteGap(err error, ok bool) (look bool) {
	if !ok {
		s.loseWatch()
		return true
	}
	s.cfg.Logger.Info("events were lost, all manifests are read again", "path", s.cfg.Path, "err", err)
	clear(s.arrived)
	s.relist = true
	now := s.cfg.Now()
	for _, f := range s.files {
		f.whole, f.touched, f.quiet = false, true, now
	}
	return true
}
