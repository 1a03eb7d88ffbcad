package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/fswatch"
	"github.com/wardlet/wardlet/core/manifest"
)

// look finds changed files, reads them and delivers the changes. It fails only with an error of the
// sink.
func (s *Source) look(ctx context.Context) error {
	now := s.cfg.Now()
	if names, ok := s.glance(now); ok {
		return s.lookAmong(ctx, names, now)
	}
	dir, entries, err := s.list()
	switch {
	case errors.Is(err, fs.ErrNotExist) && s.cfg.MissingEmpty:
		dir, err = fswatch.Inode{}, nil
	case errors.Is(err, fs.ErrNotExist) && s.cfg.OwnerOnly:
		err = fmt.Errorf("%w; create it, with mode 0700", err)
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("%w; create it, or set missing_path = \"empty\"", err)
	case err == nil && len(entries) == 0 && s.known && dir != s.good && !s.cfg.MissingEmpty:
		err = fmt.Errorf("list manifests: %s is empty and not the directory it was: is a file system not mounted? "+
			"put a manifest there to go on with it", s.cfg.Path)
	}
	if err != nil {
		if errors.Is(err, errFull) {
			s.overfill(err)
		}
		s.fail(now, err)
		return nil
	}
	if s.full {
		s.full = false
		s.cfg.Logger.Info("the source is within its bounds again")
	}
	if s.started.IsZero() {
		s.started = now
	}
	s.failing = time.Time{}
	s.listed, s.relist = now, false
	clear(s.due)
	s.remember(dir)
	s.cfg.Ignored(s.ignored)
	s.tell(nil)
	s.classify(entries)
	s.takeIn(entries, maps.Keys(s.files), now)
	return s.deliver(ctx, maps.Keys(s.files), now)
}

// fail reports an error that still exists after the settle time, because a path that is being
// replaced is missing for a moment.
func (s *Source) fail(now time.Time, err error) {
	if s.failing.IsZero() {
		s.failing = now
	}
	if due := s.failing.Add(s.cfg.Settle); now.Before(due) {
		s.lookAt(due)
		return
	}
	s.cfg.Ignored(s.ignored)
	s.tell(err)
}

// tell reports the result of the last look.
func (s *Source) tell(err error) { s.cfg.Sink.Health(err) }

// takeIn compares the entries of some names with their recorded state, and reads the files that are
// new and complete.
func (s *Source) takeIn(entries []entry, among iter.Seq[string], now time.Time) {
	there := make(map[string]bool, len(entries))
	for _, e := range entries {
		there[e.name] = true
		f := s.files[e.name]
		if f != nil && f.path != s.pathOf(e.name) {
			s.replaced = append(s.replaced, f.path)
			s.drop(e.name)
			f = nil
		}
		if f == nil {
			f = &file{path: s.pathOf(e.name), quiet: now}
			s.files[e.name] = f
		}
		s.readAgain(f)
		s.takeInFile(f, e, now)
		s.count(f, e, s.from(e.name))
		s.noteLink(e, now)
	}
	for name := range among {
		f := s.files[name]
		if f == nil || there[name] {
			continue
		}
		if f.missing.IsZero() {
			f.missing = now
		}
		s.lookAgain(name, f.missing.Add(s.cfg.Settle))
	}
	maps.DeleteFunc(s.arrived, func(name string, _ arrival) bool { return !s.late[name] })
	s.swapped, s.relinked = len(s.late) > 0, false
	clear(s.late)
}

func (s *Source) takeInFile(f *file, e entry, now time.Time) {
	from := s.from(e.name)
	if e.err != nil {
		f.missing = time.Time{}
		f.fail(from, e.err)
		return
	}
	f.see(e, s.arrived[e.name], s.relinked || e.symlink && s.swapped, now)
	if !f.stale() {
		return
	}
	switch {
	case f.settled(now, s.cfg.Settle) && s.beingWritten(f, e.name, now):
		s.lookAgain(e.name, now.Add(s.cfg.Settle))
	case !f.settled(now, s.cfg.Settle) || !f.reread(s.cfg.Decode, from, now):
		s.lookAgain(e.name, later(f.quiet.Add(s.cfg.Settle), now))
	}
}

// lookAgain schedules a look at this name no later than t.
func (s *Source) lookAgain(name string, t time.Time) {
	s.due[name] = true
	s.lookAt(t)
}

// openPatience is the time for which a file must be unchanged while a writer has it open: a copy
// over a network may stall.
const openPatience = time.Minute

// beingWritten reports whether a file that has not changed for the settle time may still grow.
func (s *Source) beingWritten(f *file, name string, now time.Time) bool {
	return !f.whole && now.Sub(f.quiet) < openPatience && openForWriting(s.pathOf(name))
}

// later returns t, but at least a millisecond after now, so that looks do not follow each other
// without a pause.
func later(t, now time.Time) time.Time {
	if least := now.Add(time.Millisecond); t.Before(least) {
		return least
	}
	return t
}

// forgotten reports whether an absent file is to be removed: the absence has lasted, or the file
// was renamed and read under its new name.
func (s *Source) forgotten(f *file, now time.Time) bool {
	if f.missing.IsZero() {
		return false
	}
	return now.Sub(f.missing) >= s.cfg.Settle || s.renamed(f)
}

// renamed reports whether the file exists, and was read, under another name.
func (s *Source) renamed(f *file) bool {
	for _, heir := range s.files {
		if heir.missing.IsZero() && heir.stamp.Content() == f.stamp.Content() && heir.current() && !held(heir.docs) {
			return true
		}
	}
	return false
}

// deliver delivers the changes of some names to the sink.
func (s *Source) deliver(ctx context.Context, among iter.Seq[string], now time.Time) error {
	if !s.snapshot {
		return s.deliverAll(ctx, now)
	}
	var changed []api.Document
	gone := s.replaced
	s.replaced = nil
	for _, name := range slices.Sorted(among) {
		f := s.files[name]
		if f == nil {
			continue
		}
		if s.forgotten(f, now) {
			gone = append(gone, f.path)
			s.drop(name)
			delete(s.links, name)
			continue
		}
		switch {
		case !f.difference():
		case len(f.docs) == 0:
			gone = append(gone, f.path)
		default:
			changed = append(changed, f.docs...)
		}
	}
	if len(changed) == 0 && len(gone) == 0 {
		return nil
	}
	return s.cfg.Sink.Apply(ctx, changed, gone)
}

// deliverAll delivers the first snapshot. It waits a limited time for files that are being written,
// and then holds them.
func (s *Source) deliverAll(ctx context.Context, now time.Time) error {
	var all []api.Document
	for name, f := range s.files {
		switch {
		case s.forgotten(f, now):
			s.drop(name)
		case f.tried:
		case now.Sub(s.started) < firstWait*s.cfg.Settle:
			return nil
		default:
			f.docs = []api.Document{manifest.HoldFile(s.from(name), 0, errors.New("the file is still being written"))}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		s.files[name].difference()
		all = append(all, s.files[name].docs...)
	}
	if err := s.cfg.Sink.Replace(ctx, all); err != nil {
		return err
	}
	s.snapshot = true
	return nil
}
