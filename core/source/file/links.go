package file

import (
	"os"
	"path/filepath"
	"strings"
)

// maxLinks is how many links the kernel follows on one path.
const maxLinks = 40

// linksTo are the symbolic links that are followed on the way to a path, each
// below the directory that it really is in.
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

// watchLinks watches the directories of the links that lead to what is watched,
// for when one of them is made to lead elsewhere. It is no loss where it fails:
// the next listing finds that, too.
func (s *Source) watchLinks() {
	w := &s.watch
	now := map[string]bool{}
	for _, link := range linksTo(s.cfg.Path) {
		now[link] = true
	}
	watched := map[string]bool{w.dir: true}
	for link := range now {
		if dir := filepath.Dir(link); !watched[dir] && !sameDirectory(dir, w.dir) {
			watched[dir] = w.watcher.Add(dir) == nil
		}
	}
	for link := range w.links {
		if dir := filepath.Dir(link); !watched[dir] && !now[link] {
			_ = w.watcher.Remove(dir)
		}
	}
	w.links = now
}

func sameDirectory(a, b string) bool {
	of, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(of, other)
}
