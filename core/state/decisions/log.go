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

// DirName is the directory of the log of decisions. It has a directory of segments for each owner
// of pods, and one with the files of policies.
const DirName = "decisions"

// Log stores decisions with all data that they depended on, in a log for each owner of pods. A log
// consists of segments, which are append-only files. A segment contains each document that its
// records name once, so that it can be removed as a whole. If an owner exceeds its limit, its
// oldest segment is removed. Log is safe for concurrent use. A caller that appends for one owner
// waits for no file of another owner.
type Log struct {
	cfg *Config

	// mu guards the data about the files of all owners. Nothing is written, read or removed while
	// it is held.
	mu     sync.Mutex
	owners map[string]*ownerLog
	files  policyFiles
	// order numbers the segments of all owners by age.
	order uint64

	// removing is held while files of policies are removed.
	removing sync.Mutex
}

// Config has the directory and the limits of a log of decisions.
type Config struct {
	// Dir is the directory of the log. Open makes it if it is missing.
	Dir string
	// Limits are the bytes that each owner of pods may use, by tenant; the operator has the empty
	// name. An owner without a limit keeps its records and can add none.
	Limits map[string]int64
	FS     durable.Filesystem
	Logger *slog.Logger
	// Quarantine moves a corrupt file aside. name is relative to Dir.
	Quarantine func(name string, corrupt error) error
}

// Open opens a log of decisions. It reads all that earlier agents wrote, which may take long.
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

// ErrTooLarge is the error for a record that exceeds its part of the owner's limit.
var ErrTooLarge = errors.New("the record is larger than a quarter of what may be kept")

// Append writes records of one owner's pods to the disk in one write, and sets the ID of each. It
// returns an error for each record, nil if the record is on the disk. Older records are removed to
// make room.
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

// write writes an entry, with the record as JSON, to the owner's active segment or a new one, after
// making room for it.
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
			continue // the new segment needs the documents again
		}
		l.makeRoom(o.tenant, size)
		if !l.reserve(o.active, size, sum.files) {
			continue // it was removed to make room
		}
		o.next++
		if err := o.write(text, sum.inputs); err != nil {
			return err
		}
		o.gap = 0
		return nil
	}
}

// begin ensures that the owner has an active segment that was not removed.
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

// reserve adds to a segment the size and the files that are about to be written, unless the segment
// is gone.
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

// errNoSegment is the error if the active segment was given up.
var errNoSegment = errors.New("no segment is being written to; the next record begins one")

// Counted records the repetitions of decisions of one owner's pods. Unless it returns an error, the
// counts are on the disk some time later.
func (l *Log) Counted(tenant string, counts []Count) error {
	o := l.owner(tenant)
	o.appending.Lock()
	defer o.appending.Unlock()
	switch {
	case len(counts) == 0:
		return nil
	case o.active == nil && l.empty(o):
		return nil // the counted records were removed to make room
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
		return nil // the counted records were removed to make room
	}
	return o.write(text, nil)
}

// empty reports whether an owner has no records.
func (l *Log) empty(o *ownerLog) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(o.segments) == 0
}

// Close closes the segments. Nothing may be appended after it.
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
