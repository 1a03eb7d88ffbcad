package decisions

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/wardlet/wardlet/core/state/durable"
)

// Archive is a log of decisions that is only read: the log of a running agent, or a copy from
// another machine.
type Archive struct {
	files  fs.FS
	bundle bool
}

// NewArchive returns the archive in RecordFiles, or in files with the layout of a state directory.
// Only the directory decisions is read.
func NewArchive(files fs.FS) *Archive {
	of, ok := files.(interface{ isBundle() bool })
	return &Archive{files, ok && of.isBundle()}
}

// ErrNone is the error for files without the records of a state directory.
var ErrNone = errors.New("no decisions are on record there")

// Each calls each for every record with its exhibits, owner by owner, the oldest record first,
// until each returns an error. Lines that are incomplete or cannot be read are skipped, and damaged
// reports their positions. The returned error is that of each, or says that there is nothing to
// read. If each returns ErrMadeRoom, the rest of its segment is skipped, because newer readers do
// not see the segment.
func (a *Archive) Each(each func(*Record, *Exhibits) error) (damaged []error, err error) {
	entries, err := fs.ReadDir(a.files, DirName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrNone, err)
	}
	if err != nil {
		return nil, err
	}
	r := &archiveReader{archive: a, each: each}
	if a.bundle {
		if r.want, err = r.manifest(); err != nil {
			return nil, err
		}
	}
	if r.want != nil {
		r.hold(r.want)
	}
	for _, e := range entries {
		if _, ok := ownerCalled(e.Name()); !ok {
			continue
		}
		if err := r.owner(path.Join(DirName, e.Name())); err != nil {
			return r.damaged, err
		}
	}
	if r.want != nil && len(r.damaged) == 0 && r.records != r.want.Records {
		r.damaged = append(r.damaged, fmt.Errorf("%s names %d records, there are %d", manifestName, r.want.Records, r.records))
	}
	return r.damaged, nil
}

// archiveReader reads all segments of an archive.
type archiveReader struct {
	archive *Archive
	each    func(*Record, *Exhibits) error
	damaged []error
	// want is the manifest of a bundle, nil for none. records is the number of records so far.
	want    *bundleManifest
	records int
	// numbers are the record numbers of the current owner.
	numbers recordNumbers
}

// owner reads the records in a directory of segments.
func (r *archiveReader) owner(dir string) error {
	names, err := r.segments(dir)
	if err != nil {
		r.damaged = append(r.damaged, err)
	}
	r.numbers = recordNumbers{owner: path.Base(dir)}
	for i, name := range names {
		if err := r.segment(name, i == len(names)-1); err != nil && !errors.Is(err, ErrMadeRoom) {
			return err
		}
	}
	return nil
}

// segments returns the paths of the segments in a directory, the oldest first.
func (r *archiveReader) segments(dir string) ([]string, error) {
	entries, err := fs.ReadDir(r.archive.files, dir)
	numbers := map[string]uint64{}
	var names []string
	for _, e := range entries {
		number, ok := segmentNumber(e.Name())
		name := path.Join(dir, e.Name())
		switch {
		case !ok:
		case !e.Type().IsRegular():
			r.damaged = append(r.damaged, fmt.Errorf("%s is no regular file", name))
		default:
			names, numbers[name] = append(names, name), number
		}
	}
	slices.SortFunc(names, func(x, y string) int { return cmp.Compare(numbers[x], numbers[y]) })
	return names, err
}

// segment reads the records of one segment.
func (r *archiveReader) segment(name string, newest bool) error {
	text, err := r.archive.read(name)
	if err == nil && newest && !r.archive.bundle {
		text, err = r.archive.ended(name, text)
	}
	if errors.Is(err, fs.ErrNotExist) {
		r.numbers.known = false
		return nil // it was removed to make room
	}
	first, _ := segmentNumber(path.Base(name))
	r.numbers.segment(first)
	if err != nil {
		r.numbers.damaged = true
		r.damaged = append(r.damaged, err)
		return nil
	}
	whole, before := text, len(r.damaged)
	e := &Exhibits{archive: r.archive, segment: name, inputs: map[string][]byte{}}
	for number := 1; len(text) > 0; number++ {
		one, rest, err := cutLine(text)
		text = rest
		if errors.Is(err, errTorn) {
			continue
		}
		if err != nil {
			r.numbers.damaged = true
			r.damaged = append(r.damaged, fmt.Errorf("%s:%d: %w", name, number, err))
			continue
		}
		switch one.kind {
		case lineInput:
			e.inputs[one.digest] = one.body
		case lineGap:
			if last, err := strconv.ParseUint(string(one.body), 10, 64); err == nil {
				r.numbers.gap(last)
			}
		case lineRecord:
			record := &Record{}
			if err := json.Unmarshal(one.body, record); err != nil || record.ID == "" {
				r.damaged = append(r.damaged, fmt.Errorf("%s:%d: no record of a decision: %w", name, number, cmp.Or(err, errors.New("it has no ID"))))
				r.numbers.damaged = true
				continue
			}
			r.records++
			if err := r.numbers.record(record.ID); err != nil && !r.archive.bundle {
				r.damaged = append(r.damaged, fmt.Errorf("%s: %w", name, err))
			}
			if err := r.each(record, e); err != nil {
				return err
			}
		}
	}
	if r.want != nil && len(r.damaged) == before && r.want.Files[name] != "" && digestOf(whole) != r.want.Files[name] {
		r.damaged = append(r.damaged, anotherFile(name))
	}
	return nil
}

// linePatience is the time that an agent has to complete the line that it is writing.
const linePatience = 50 * time.Millisecond

// ended returns the text of the newest segment. If its last line has no end, an agent may be
// writing the line. Then the segment is read once more, up to the last complete line if there are
// new ones.
func (a *Archive) ended(name string, text []byte) ([]byte, error) {
	if len(text) == 0 || text[len(text)-1] == '\n' {
		return text, nil
	}
	time.Sleep(linePatience)
	again, err := a.read(name)
	if err != nil {
		return nil, err
	}
	if end := bytes.LastIndexByte(again, '\n') + 1; end > len(text) {
		return again[:end], nil
	}
	return again, nil
}

// read reads a file. It fails if the file is longer than a file of a state directory may be, even
// if its reported length is smaller.
func (a *Archive) read(name string) ([]byte, error) {
	f, err := a.files.Open(name)
	if err != nil {
		return nil, named(name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var text []byte
	if info.Mode().IsRegular() && info.Size() <= durable.MaxSize {
		text, err = io.ReadAll(io.LimitReader(f, durable.MaxSize+1))
	}
	if !info.Mode().IsRegular() || info.Size() > durable.MaxSize || len(text) > durable.MaxSize {
		return nil, fmt.Errorf("%s is no regular file of at most %d bytes", name, durable.MaxSize)
	}
	if err != nil {
		return nil, named(name, err)
	}
	return text, nil
}

// named adds the name of the file to an error that lacks it.
func named(name string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok && e.Path == name {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}
