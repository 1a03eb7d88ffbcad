package policy

import (
	"maps"
	"time"

	"github.com/wardlet/wardlet/core/internal/fswatch"
)

// unchanged reports whether the names of the directory still have the stamps
// of an earlier reading. It reads no file.
func unchanged(dir string, stamps map[string]fswatch.Stamp) bool {
	d, err := openDirectory(dir)
	if err != nil {
		return false
	}
	defer d.close()
	names, err := d.documents()
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

// newest is when the last change was made, zero for no file.
func newest(stamps map[string]fswatch.Stamp) (last time.Time) {
	for _, s := range stamps {
		if changed := s.Changed(); changed.After(last) {
			last = changed
		}
	}
	return last
}
