package file

import (
	"context"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/internal/fswatch"
)

// glance returns the names to look at if a full listing is not needed. If the kernel reports every
// change, only the reported names can have changed, so a change of one manifest costs the same
// however many there are. ok is false if a full listing is due.
func (s *Source) glance(now time.Time) (names []string, ok bool) {
	switch {
	case !s.snapshot, s.single, s.relist, !s.failing.IsZero(), !s.watch.watching():
		return nil, false
	case now.Before(s.listed), now.Sub(s.listed) >= s.cfg.Period, len(s.due) > s.cfg.MaxFiles:
		return nil, false
	}
	info, err := os.Stat(s.cfg.Path)
	if err != nil || !info.IsDir() || !s.known || fswatch.StampOf(info).Inode != s.good {
		return nil, false
	}
	// A file that has another name may change under that name without an event here.
	due := maps.Clone(s.links)
	maps.Copy(due, s.due)
	clear(s.due)
	return slices.Sorted(maps.Keys(due)), true
}

// noteLink records whether the file of a name has another name. When a file gets a second name, the
// kernel reports an event only under the second name.
func (s *Source) noteLink(e entry, now time.Time) {
	switch {
	case e.hardlink && !s.links[e.name] && !s.listed.Equal(now):
		s.relist = true
		s.lookAt(now)
		s.links[e.name] = true
	case e.symlink, e.hardlink:
		s.links[e.name] = true
	default:
		delete(s.links, e.name)
	}
}

// lookAmong is look for only these names.
func (s *Source) lookAmong(ctx context.Context, names []string, now time.Time) error {
	var entries []entry
	for _, name := range names {
		if e, ok := s.stat(name, isSymlink(s.pathOf(name))); ok {
			entries = append(entries, e)
		}
	}
	if !s.fits(entries) {
		s.relist = true
		return s.look(ctx)
	}
	s.tell(nil)
	s.classify(entries)
	s.takeIn(entries, slices.Values(names), now)
	return s.deliver(ctx, slices.Values(names), now)
}
