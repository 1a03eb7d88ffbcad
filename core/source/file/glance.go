package file

import (
	"context"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/internal/fswatch"
)

// glance returns the names to look at when not all need to be listed: where the
// kernel tells of every change, what it told of is all that changed, so that one
// manifest costs as much among ten thousand as alone. ok is false where a full
// listing is due.
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
	// What has another name, too, may change under that, and no event tells.
	due := maps.Clone(s.links)
	maps.Copy(due, s.due)
	clear(s.due)
	return slices.Sorted(maps.Keys(due)), true
}

// noteLink remembers whether what a name leads to has another name, too. Of a
// second name that a file is given the kernel tells under that one only.
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

// lookAmong does what look does for these names.
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
