package state

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
)

// decisionsDir is the directory of the log of decisions: below it a directory
// with segments for each owner of pods, and one with the files of policies.
const decisionsDir = "decisions"

// DecisionLog keeps decisions with all that they depended on, in a log for each
// owner of pods. A log consists of segments, files that are only appended to. A
// segment holds each document that its records name once, so that it can go as a
// whole: where an owner has more than its share, its oldest one does. It is safe
// for concurrent use.
type DecisionLog struct {
	dir    *Dir
	limits map[string]int64

	mu     sync.Mutex
	owners map[string]*ownerLog
	files  policyFiles
	// order numbers the segments of all owners by age.
	order uint64
}

// Decisions opens the log of decisions. limits are how many bytes each owner of
// pods may have, by tenant, the operator's under the empty name; one that is not
// named keeps what it has and gets no more. What was written by an agent before
// is read, so it takes as long as that does.
func (d *Dir) Decisions(limits map[string]int64) (*DecisionLog, error) {
	l := &DecisionLog{dir: d, limits: limits, owners: map[string]*ownerLog{}}
	if err := ownDir(l.path()); err != nil {
		return nil, fmt.Errorf("%s: %w", l.path(), err)
	}
	if err := l.openFiles(); err != nil {
		return nil, fmt.Errorf("%s: %w", l.path(), err)
	}
	if err := l.openOwners(); err != nil {
		return nil, fmt.Errorf("%s: %w", l.path(), err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for tenant := range l.limits {
		l.makeRoom(tenant, 0)
	}
	return l, nil
}

func (l *DecisionLog) path() string { return filepath.Join(l.dir.path, decisionsDir) }

func (l *DecisionLog) log() *slog.Logger { return l.dir.log }

// ErrTooLarge is the error of a record that would take more than its part of
// what its owner may have.
var ErrTooLarge = errors.New("the record is larger than a quarter of what may be kept")

// Append puts records of one owner's pods on the disk, in one write, and gives
// each its ID. What comes back is an error for each, nil for one that is on the
// disk. Older records make room for them.
func (l *DecisionLog) Append(tenant string, entries []DecisionEntry) []error {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.owner(tenant)
	o.failed = nil
	errs := make([]error, len(entries))
	var sum sums
	for i := range entries {
		errs[i] = l.add(o, &entries[i], &sum)
	}
	err := o.sync()
	for i := range errs {
		if errs[i] == nil && err != nil {
			errs[i], entries[i].Record.ID = err, ""
		}
	}
	return errs
}

// add writes one entry; it is on the disk after the next sync.
func (l *DecisionLog) add(o *ownerLog, e *DecisionEntry, sum *sums) error {
	limit := l.limits[o.tenant]
	if limit <= 0 {
		return errors.New("nothing is kept of its owner's decisions")
	}
	e.Record.ID = o.id(o.next)
	text, err := l.fit(o, e, sum, limit)
	if err == nil {
		err = o.write(text, sum)
		o.next++
	}
	if err != nil {
		e.Record.ID = ""
		return err
	}
	l.files.hold(sum.files)
	return nil
}

// fit gives the lines of an entry once there is room for them.
func (l *DecisionLog) fit(o *ownerLog, e *DecisionEntry, sum *sums, limit int64) ([]byte, error) {
	for {
		text, err := o.lines(e, sum)
		switch {
		case err != nil:
			return nil, err
		case int64(len(text)) > min(limit/4, maxFile/2):
			return nil, fmt.Errorf("%w: it has %d bytes, its owner may have %d", ErrTooLarge, len(text), limit)
		}
		into := o.active
		if o.full(int64(len(text)), limit) {
			if err := o.rotate(); err != nil {
				return nil, err
			}
		}
		l.makeRoom(o.tenant, int64(len(text)))
		if o.active == into {
			return text, nil
		}
		// Another segment lacks what this one had.
	}
}

// Counted notes how often decisions of one owner's pods have been repeated. It
// is on the disk some time later.
func (l *DecisionLog) Counted(tenant string, counts []DecisionCount) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.owner(tenant)
	if o.active == nil || len(counts) == 0 {
		return nil
	}
	text, err := countLines(counts)
	if err != nil {
		return err
	}
	l.makeRoom(tenant, int64(len(text)))
	if o.active == nil {
		return nil // what was counted made room
	}
	return o.write(text, nil)
}

// Close closes the segments; nothing is appended any more.
func (l *DecisionLog) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, o := range l.owners {
		errs = append(errs, o.close())
	}
	return errors.Join(errs...)
}

// bytes is what counts as an owner's: its segments, and the files of its policies
// that only records keep.
func (l *DecisionLog) bytes(tenant string) int64 {
	n := l.files.kept(tenant)
	if o := l.owners[tenant]; o != nil {
		for _, s := range o.segments {
			n += s.size
		}
	}
	return n
}

// makeRoom removes segments until an owner may have so many bytes more: its own,
// the oldest first; and where it has none left, those that keep files of its
// policies.
func (l *DecisionLog) makeRoom(tenant string, more int64) {
	for l.bytes(tenant)+more > l.limits[tenant] {
		o := l.owners[tenant]
		if o == nil || len(o.segments) == 0 {
			if o = l.keeper(tenant); o == nil {
				return
			}
		}
		s := o.drop()
		if err := l.dir.fs.remove(s.path); err != nil {
			l.log().Error("old decisions cannot be removed", "file", s.path, "err", err)
		}
		if l.files.letGo(s) {
			l.sweep()
		}
	}
}

// keeper is the owner of the oldest segment that keeps files of a tenant's
// policies, as its oldest; nil if there is none.
func (l *DecisionLog) keeper(tenant string) (oldest *ownerLog) {
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

func (l *DecisionLog) owner(tenant string) *ownerLog {
	o := l.owners[tenant]
	if o == nil {
		o = &ownerLog{dir: l.dir, order: &l.order, tenant: tenant, path: filepath.Join(l.path(), ownerOf(tenant)), next: 1}
		l.owners[tenant] = o
	}
	return o
}
