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
	// segmentParts is the least number of segments that fit into an owner's limit.
	segmentParts = 8
	// maxSegment is the greatest length of a segment, in bytes.
	maxSegment = 4 << 20
	// segmentSuffix is the suffix of the names of segments, after the number of the first record.
	segmentSuffix = ".log"
)

// ownerLog is the log of one owner's pods.
type ownerLog struct {
	cfg    *Config
	tenant string
	path   string

	// segments are the segments by age, the active one last, unless it is gone. Log.mu guards them.
	segments []*segment

	// appending is held while records are appended, until they are on the disk. It guards all
	// following fields.
	appending sync.Mutex
	// next is the number of the next record, from 1.
	next uint64
	// active is the segment that is written to, nil for none. file is its open file.
	active *segment
	file   durable.File
	// inputs are the digests of the documents in the active segment.
	inputs map[string]bool
	// entered: the directory's entry of the active segment is on the disk.
	entered bool
	// kept is the number up to which all records that were reported as successful are on the disk.
	// gap, if not 0, is the number up to which missing records failed to be written: the next
	// record is preceded by a lineGap with it.
	kept, gap uint64
	// failed is the reason why data that was written since the last sync is not on the disk.
	failed error
}

// segment is a file of the log. Log.mu guards it. The holder of its owner's appending may read
// files of the active segment without Log.mu.
type segment struct {
	path string
	size int64
	// order is smaller than that of newer segments.
	order uint64
	// files are the digests of the policy files that its records name.
	files map[fileKey]bool
	// gone: the segment was removed to make room.
	gone bool
}

// sums are the digests that a text adds to a segment.
type sums struct {
	inputs []string
	files  []fileKey
}

// id returns the ID of a record: OWNER-NUMBER.
func (o *ownerLog) id(number uint64) string { return fmt.Sprintf("%s-%d", OwnerDir(o.tenant), number) }

// lines returns an entry as the lines that the active segment does not have yet, and the digests
// that they add. body is the record as JSON.
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

// full reports whether that many more bytes belong into another segment.
func (o *ownerLog) full(more, limit int64) bool {
	return o.active.size > 0 && o.active.size+more > min(limit/segmentParts, maxSegment)
}

// open starts a new segment.
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

// goOn continues to write to an existing segment. If the segment cannot be opened, the next record
// starts another one. half reports whether its last line has no end.
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
		_ = o.close() // no complete line is lost
		return
	}
	s.size += int64(len(tornMark) + 1)
}

// write appends text to the active segment. inputs are the digests of the documents in text. The
// text is on the disk after the next sync that returns no error.
func (o *ownerLog) write(text []byte, inputs []string) error {
	if _, err := o.file.Write(text); err != nil {
		// Further lines must not follow half a line.
		return o.fail(err)
	}
	for _, digest := range inputs {
		o.inputs[digest] = true
	}
	return nil
}

// fail closes the active segment because some of its data is not on the disk. The next sync returns
// the error.
func (o *ownerLog) fail(err error) error {
	err = fmt.Errorf("write %s: %w", o.active.path, err)
	o.failed = errors.Join(o.failed, err)
	if o.next-1 > o.kept {
		o.gap = o.next - 1
	}
	_ = o.close() // the segment is given up
	return err
}

// flush writes the active segment to the disk.
func (o *ownerLog) flush() error {
	if o.active == nil {
		return nil
	}
	if err := o.file.Sync(); err != nil {
		return o.fail(err) // the kernel does not retry data that it has dropped
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

// sync writes the active segment to the disk, and returns an error if any data since the last sync
// is not on the disk.
func (o *ownerLog) sync() error {
	_ = o.flush() // the error is in failed
	err := o.failed
	o.failed = nil
	return err
}

// rotate closes the active segment. If its data does not reach the disk, the next sync returns the
// error.
func (o *ownerLog) rotate() {
	if o.flush() == nil {
		_ = o.close() // the data is on the disk
	}
}

// close closes the active segment.
func (o *ownerLog) close() error {
	if o.active == nil {
		return nil
	}
	err := o.file.Close()
	o.active, o.file, o.inputs = nil, nil, nil
	return err
}

// segmentName returns the name of a segment, from the number of its first record.
func segmentName(first uint64) string { return fmt.Sprintf("%016d%s", first, segmentSuffix) }

// segmentNumber returns the number of the first record of a segment, from its name.
func segmentNumber(name string) (number uint64, ok bool) {
	digits, ok := strings.CutSuffix(name, segmentSuffix)
	if !ok {
		return 0, false
	}
	number, err := strconv.ParseUint(digits, 10, 64)
	return number, err == nil && number > 0
}
