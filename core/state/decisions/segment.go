package decisions

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/wardlet/wardlet/core/state/durable"
)

const (
	// segmentParts is how many segments an owner's share has room for, at least.
	segmentParts = 8
	// maxSegment is how long a segment may become, in bytes.
	maxSegment = 4 << 20
	// segmentSuffix ends the names of segments; before it stands the number of the
	// first record.
	segmentSuffix = ".log"
)

// ownerLog is the log of one owner's pods.
type ownerLog struct {
	cfg    *Config
	tenant string
	path   string

	// segments are in order, the active one last, unless it is gone. Log.mu
	// guards them.
	segments []*segment

	// appending is held while records are appended, until they are on the disk. It
	// guards all that follows.
	appending sync.Mutex
	// next is the number of the next record, from 1.
	next uint64
	// active is the segment that is written to, nil for none; file is open.
	active *segment
	file   durable.File
	// inputs are the digests of the documents in the active segment.
	inputs map[string]bool
	// entered: the directory's entry of the active segment is on the disk.
	entered bool
	// kept is the number up to which all that was answered is on the disk; gap, if it
	// is not 0, is that up to which what is not there was not: the next record says so.
	kept, gap uint64
	// failed is why something that was written since the last sync is not on the
	// disk.
	failed error
}

// segment is a file of the log. Log.mu guards it; who has its owner's
// appending may read files of the active one.
type segment struct {
	path string
	size int64
	// order is less than that of younger ones.
	order uint64
	// files are the digests of the policy files that its records name.
	files map[fileKey]bool
	// gone: it has made room.
	gone bool
}

// sums are the digests that a text adds to a segment.
type sums struct {
	inputs []string
	files  []fileKey
}

// id names a record for people: OWNER-NUMBER.
func (o *ownerLog) id(number uint64) string { return fmt.Sprintf("%s-%d", OwnerDir(o.tenant), number) }

// lines is an entry as the lines that the active segment lacks of it, and what
// they add to that. body is the record as JSON.
func (o *ownerLog) lines(e *Entry, body []byte) (text []byte, sum sums) {
	if o.gap > 0 {
		text = (&line{kind: lineGap, body: strconv.AppendUint(nil, o.gap, 10)}).append(text)
	}
	for _, digest := range slices.Sorted(maps.Keys(e.Inputs)) {
		if !o.inputs[digest] {
			text = (&line{kind: lineInput, digest: digest, body: e.Inputs[digest]}).append(text)
			sum.inputs = append(sum.inputs, digest)
		}
	}
	e.Record.files(func(digest, owner string) {
		key := fileKey{digest, owner}
		if !o.active.files[key] && !slices.Contains(sum.files, key) {
			text = (&line{kind: lineFile, digest: digest, body: []byte(OwnerDir(owner))}).append(text)
			sum.files = append(sum.files, key)
		}
	})
	return (&line{kind: lineRecord, body: body}).append(text), sum
}

func countLines(counts []Count) (text []byte, err error) {
	for i := range counts {
		body, err := json.Marshal(&counts[i])
		if err != nil {
			return nil, err
		}
		text = (&line{kind: lineCount, body: body}).append(text)
	}
	return text, nil
}

// full reports whether so many bytes more belong into another segment.
func (o *ownerLog) full(more, limit int64) bool {
	return o.active.size > 0 && o.active.size+more > min(limit/segmentParts, maxSegment)
}

// open begins a new segment.
func (o *ownerLog) open() (*segment, error) {
	if err := durable.OwnDir(o.path); err != nil {
		return nil, fmt.Errorf("%s: %w", o.path, err)
	}
	path := filepath.Join(o.path, segmentName(o.next))
	f, err := o.cfg.FS.AppendTo(path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	o.active = &segment{path: path, files: map[fileKey]bool{}}
	o.file, o.inputs, o.entered = f, map[string]bool{}, false
	return o.active, nil
}

// goOn has the owner write to a segment that there was, if that can be: the next
// record begins another one otherwise. half is whether its last line has no end.
func (o *ownerLog) goOn(s *segment, inputs map[string]bool, half bool) {
	f, err := o.cfg.FS.AppendTo(s.path)
	if err != nil {
		return
	}
	o.active, o.file, o.inputs, o.entered = s, f, inputs, true
	if !half {
		return
	}
	if _, err := f.Write([]byte(tornMark + "\n")); err != nil {
		_ = o.close() // nothing of it is lost
		return
	}
	s.size += int64(len(tornMark) + 1)
}

// write appends text to the active segment, which gets documents with it. It is on
// the disk after the next sync that returns no error.
func (o *ownerLog) write(text []byte, inputs []string) error {
	if _, err := o.file.Write(text); err != nil {
		// What follows must not stand behind half a line.
		return o.fail(err)
	}
	for _, digest := range inputs {
		o.inputs[digest] = true
	}
	return nil
}

// fail ends the active segment because something of it is not on the disk; the
// next sync says so.
func (o *ownerLog) fail(err error) error {
	err = fmt.Errorf("write %s: %w", o.active.path, err)
	o.failed = errors.Join(o.failed, err)
	if o.next-1 > o.kept {
		o.gap = o.next - 1
	}
	_ = o.close() // it is given up
	return err
}

// flush puts the active segment on the disk.
func (o *ownerLog) flush() error {
	if o.active == nil {
		return nil
	}
	if err := o.file.Sync(); err != nil {
		return o.fail(err) // what the durable.OS has dropped it will not try again
	}
	if o.entered {
		o.kept = o.next - 1
		return nil
	}
	for _, dir := range []string{o.path, filepath.Dir(o.path)} {
		if err := o.cfg.FS.SyncDir(dir); err != nil {
			return o.fail(err)
		}
	}
	o.entered, o.kept = true, o.next-1
	return nil
}

// sync reports whether all that was written since the last one is on the disk.
func (o *ownerLog) sync() error {
	_ = o.flush() // it is in failed
	err := o.failed
	o.failed = nil
	return err
}

// rotate ends the active segment. If its data does not reach the disk, the next
// sync returns the error.
func (o *ownerLog) rotate() {
	if o.flush() == nil {
		_ = o.close() // it is on the disk
	}
}

// close ends the active segment.
func (o *ownerLog) close() error {
	if o.active == nil {
		return nil
	}
	err := o.file.Close()
	o.active, o.file, o.inputs = nil, nil, nil
	return err
}

// segmentName is the name of a segment, by the number of its first record.
func segmentName(first uint64) string { return fmt.Sprintf("%016d%s", first, segmentSuffix) }

// segmentNumber is the number of the first record of a segment, by its name.
func segmentNumber(name string) (number uint64, ok bool) {
	digits, ok := strings.CutSuffix(name, segmentSuffix)
	if !ok {
		return 0, false
	}
	number, err := strconv.ParseUint(digits, 10, 64)
	return number, err == nil && number > 0
}
