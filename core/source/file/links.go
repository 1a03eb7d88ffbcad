package file

import (
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/wardlet/wardlet/core/internal/fswatch"
)

// maxLinks is the number of links that the kernel follows on one path.
const maxLinks = 40

// linksTo returns the symbolic links that are followed on the way to a path, each with the real
// path of its directory.
func linksTo(path string) (links []string) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	at, rest := "/", strings.Split(path, "/")
	for len(rest) > 0 && len(links) <= maxLinks {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		target, err := os.Readlink(next)
		if err != nil {
			at = next
			continue
		}
		links = append(links, next)
		if filepath.IsAbs(target) {
			at = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return links
}

// watchLinks watches the directories of the links that lead to the watched directory, to detect
// when one of them changes its target. If a watch fails, the next listing finds the change.
func (s *Source) watchLinks() {
	w := &s.watch
	now, watched := map[string]bool{}, map[string]bool{w.dir: true}
	led := map[string]fswatch.Inode{}
	for _, link := range linksTo(s.cfg.Path) {
		if info, err := os.Lstat(link); err == nil {
			led[link] = fswatch.StampOf(info).Inode
		}
		dir := filepath.Dir(link)
		if sameDirectory(dir, w.dir) {
			// Events of that directory use the name under which it is watched.
			dir = w.dir
			link = filepath.Join(dir, filepath.Base(link))
		}
		if now[link] = true; !watched[dir] {
			watched[dir] = w.Add(dir) == nil
		}
	}
	for link := range w.links {
		if dir := filepath.Dir(link); !watched[dir] && !now[link] {
			w.Remove(dir)
		}
	}
	w.links = now
	// The event may have been lost when the watch of the link's former target was removed.
	if w.led != nil && !maps.Equal(w.led, led) {
		s.relist, s.relinked = true, true
	}
	w.led = led
}

// forgetLinks removes the watches of watchLinks.
func (w *watchState) forgetLinks() {
	for link := range w.links {
		w.Remove(filepath.Dir(link))
	}
	w.links = nil
}

func sameDirectory(a, b string) bool {
	of, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(of, other)
}
