package decisions

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/wardlet/wardlet/core/state/durable"
)

// DirName is the directory of the log of decisions: below it a directory
// with segments for each owner of pods, and one with the files of policies.
const DirName = "decisions"

// Log keeps decisions with all that they depended on, in a log for each
// owner of pods. A log consists of segments, files that are only appended to. A
// segment holds each document that its records name once, so that it can go as a
// whole: where an owner has more than its share, its oldest one does. It is safe
// for concurrent use, and who appends for one owner waits for no file of another's.
type Log struct {
	cfg *Config

	// mu guards what is known of the files of all owners. Nothing is written, read
	// or removed while it is held.
	mu     sync.Mutex
	owners map[string]*ownerLog
	files  policyFiles
	// order numbers the segments of all owners by age.
	order uint64

	// removing is held while files of policies are removed.
	removing sync.Mutex
}

// Config is where a log of decisions is, and what it may have.
type Config struct {
	// Dir is the directory of the log. Open makes it where it is missing.
	Dir string
	// Limits are how many bytes each owner of pods may have, by tenant, the operator's under the
	// empty name. One that is not named keeps what it has and gets no more.
	Limits map[string]int64
	FS     durable.Filesystem
	Logger *slog.Logger
	// Quarantine moves a corrupt file aside, whose name is relative to Dir.
	Quarantine func(name string, corrupt error) error
}

// Open opens a log of decisions. It reads what earlier agents wrote, so it takes as long as
// that does.
func Open(cfg Config) (*Log, error) {
	l := &Log{cfg: &cfg, owners: map[string]*ownerLog{}}
	if err := durable.OwnDir(l.path()); err != nil {
		return nil, fmt.Errorf("%s: %w", l.path(), err)
	}
	if err := l.openFiles(); err != nil {
		return nil, fmt.Errorf("%s: %w", l.path(), err)
	}
	if err := l.openOwners(); err != nil {
		return nil, fmt.Errorf("%s: %w", l.path(), err)
	}
	for tenant := range l.cfg.Limits {
		l.makeRoom(tenant, 0)
	}
	return l, nil
}

func (l *Log) path() string { return l.cfg.Dir }

func (l *Log) log() *slog.Logger { return l.cfg.Logger }

// ErrTooLarge is the error of a record that would take more than its part of
// what its owner may have.
var ErrTooLarge = errors.New("the record is larger than a quarter of what may be kept")

// Append puts records of one owner's pods on the disk, in one write, and returns
// each its ID. What comes back is an error for each, nil for one that is on the
// disk. Older records make room for them.
func (l *Log) Append(tenant string, entries []Entry) []error {
	o := l.owner(tenant)
	o.appending.Lock()
	defer o.appending.Unlock()
	o.failed = nil
	errs := make([]error, len(entries))
	for i := range entries {
		errs[i] = l.add(o, &entries[i])
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
func (l *Log) add(o *ownerLog, e *Entry) error {
	limit := l.cfg.Limits[o.tenant]
	if limit <= 0 {
		return errors.New("there are no saved decisions of its owner")
	}
	e.Record.ID = o.id(o.next)
	body, err := json.Marshal(e.Record)
	if err == nil {
		err = l.write(o, e, body, limit)
	}
	if err != nil {
		e.Record.ID = ""
	}
	return err
}

// write puts an entry, with the record as JSON, into the owner's active segment or
// a new one, once there is room for it.
func (l *Log) write(o *ownerLog, e *Entry, body []byte, limit int64) error {
	for {
		if err := l.begin(o); err != nil {
			return err
		}
		text, sum := o.lines(e, body)
		size := int64(len(text))
		if size > min(limit/4, durable.MaxSize/2) {
			return fmt.Errorf("%w: it has %d bytes, its owner may have %d", ErrTooLarge, size, limit)
		}
		if o.full(size, limit) {
			o.rotate()
			continue // another segment lacks what this one had
		}
		l.makeRoom(o.tenant, size)
		if !l.reserve(o.active, size, sum.files) {
			continue // it has made room
		}
		o.next++
		if err := o.write(text, sum.inputs); err != nil {
			return err
		}
		o.gap = 0
		return nil
	}
}

// begin has the owner write to a segment that there is.
func (l *Log) begin(o *ownerLog) error {
	if o.active != nil {
		l.mu.Lock()
		gone := o.active.gone
		l.mu.Unlock()
		if !gone {
			return nil
		}
		o.close()
	}
	s, err := o.open()
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.order++
	s.order = l.order
	o.segments = append(o.segments, s)
	return nil
}

// reserve counts what a segment is about to get, unless it is gone.
func (l *Log) reserve(s *segment, size int64, files []fileKey) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.gone {
		return false
	}
	s.size += size
	for _, key := range files {
		s.files[key] = true
	}
	l.files.hold(files)
	return true
}

// errNoSegment is that the active segment was given up.
var errNoSegment = errors.New("no segment is being written to; the next record begins one")

// Counted notes how often decisions of one owner's pods have been repeated. It
// is on the disk some time later, unless an error comes back.
func (l *Log) Counted(tenant string, counts []Count) error {
	o := l.owner(tenant)
	o.appending.Lock()
	defer o.appending.Unlock()
	switch {
	case len(counts) == 0:
		return nil
	case o.active == nil && l.empty(o):
		return nil // what was counted made room
	case o.active == nil:
		return errNoSegment
	}
	text, err := countLines(counts)
	if err != nil {
		return err
	}
	size := int64(len(text))
	l.makeRoom(tenant, size)
	if !l.reserve(o.active, size, nil) {
		return nil // what was counted made room
	}
	return o.write(text, nil)
}

// empty reports whether an owner has nothing on record.
func (l *Log) empty(o *ownerLog) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(o.segments) == 0
}

// Close closes the segments; nothing is appended any more.
func (l *Log) Close() error {
	l.mu.Lock()
	owners := slices.Collect(maps.Values(l.owners))
	l.mu.Unlock()
	var errs []error
	for _, o := range owners {
		o.appending.Lock()
		errs = append(errs, o.close())
		o.appending.Unlock()
	}
	return errors.Join(errs...)
}

func (l *Log) owner(tenant string) *ownerLog {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.owners[tenant]
	if o == nil {
		o = &ownerLog{cfg: l.cfg, tenant: tenant, path: filepath.Join(l.path(), OwnerDir(tenant)), next: 1}
		l.owners[tenant] = o
	}
	return o
}
