package decisions

import (
	"errors"
	"os"
)

// bytes returns the bytes that an owner uses: its segments, and the files of its policies that only
// records keep.
func (l *Log) bytes(tenant string) int64 {
	n := l.files.kept(tenant)
	if o := l.owners[tenant]; o != nil {
		for _, s := range o.segments {
			n += s.size
		}
	}
	return n
}

// makeRoom removes segments until an owner may use the given number of bytes more. It removes the
// owner's own segments, the oldest first. If there are none left, it removes segments that keep
// files of the owner's policies.
func (l *Log) makeRoom(tenant string, more int64) {
	for _, path := range l.outdated(tenant, more) {
		if err := l.cfg.FS.Remove(path); err != nil {
			l.log().Error("old decisions cannot be removed", "file", path, "err", err)
		}
	}
	l.sweep()
}

// outdated drops the segments that must be removed for that, and returns their paths. An empty
// segment stays, because the next one would have the same name.
func (l *Log) outdated(tenant string, more int64) (paths []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.bytes(tenant)+more > l.cfg.Limits[tenant] {
		o := l.owners[tenant]
		if o == nil || len(o.segments) == 0 || o.segments[0].size == 0 {
			if o = l.keeper(tenant); o == nil {
				break
			}
		}
		s := o.segments[0]
		o.segments = o.segments[1:]
		s.gone = true
		paths = append(paths, s.path)
		l.files.letGo(s)
	}
	return paths
}

// keeper returns the owner whose segments keep files of a tenant's policies; of several, the one
// with the oldest segment; nil if there is none.
func (l *Log) keeper(tenant string) (oldest *ownerLog) {
	for _, o := range l.owners {
		if len(o.segments) == 0 || !l.files.heldBy(o.segments, tenant) {
			continue
		}
		if oldest == nil || o.segments[0].order < oldest.segments[0].order {
			oldest = o
		}
	}
	return oldest
}

// sweep removes the files of policies that are no longer needed. If another goroutine is sweeping,
// or is about to store files, sweep leaves the work to it: the other one sweeps at its end.
func (l *Log) sweep() {
	for l.files.stale.Load() && l.removing.TryLock() {
		l.files.stale.Store(false)
		for _, digest := range l.unneeded() {
			if err := l.cfg.FS.Remove(l.filePath(digest)); err != nil && !errors.Is(err, os.ErrNotExist) {
				l.log().Error("a file of an old policy cannot be removed", "file", l.filePath(digest), "err", err)
			}
		}
		l.removing.Unlock()
	}
}

// unneeded drops the files of policies that are no longer needed, and returns their digests.
func (l *Log) unneeded() (digests []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	needed := l.files.needed()
	for digest := range l.files.sizes {
		if !needed[digest] {
			digests = append(digests, digest)
			delete(l.files.sizes, digest)
		}
	}
	return digests
}
