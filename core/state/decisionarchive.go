package state

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
)

// DecisionArchive is a log of decisions that is only read, be it that of an agent
// that runs or a copy from another machine.
type DecisionArchive struct{ files fs.FS }

// ArchiveOf gives the archive of a state directory, or of something laid out like
// one: of it only the directory decisions is read.
func ArchiveOf(files fs.FS) *DecisionArchive { return &DecisionArchive{files} }

// Exhibits are the documents that records of one segment name, and all files of
// policies.
type Exhibits struct {
	archive *DecisionArchive
	segment string
	inputs  map[string][]byte
}

// ErrNoDecisions is that something is not laid out as a state directory with records.
var ErrNoDecisions = errors.New("no decisions are on record there")

// Each gives every record with what it names, of one owner's pods after the other,
// the oldest first, until each gives an error. What is not whole is passed over, and
// damaged says where it stands. The error is that of each, or says what cannot be
// read.
func (a *DecisionArchive) Each(each func(*DecisionRecord, *Exhibits) error) (damaged []error, err error) {
	owners, err := fs.ReadDir(a.files, decisionsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrNoDecisions, err)
	}
	if err != nil {
		return nil, err
	}
	for _, owner := range owners {
		if _, ok := ownerCalled(owner.Name()); !ok || !owner.IsDir() {
			continue
		}
		names, err := a.segments(path.Join(decisionsDir, owner.Name()))
		if err != nil {
			return damaged, err
		}
		for _, name := range names {
			more, err := a.segment(name, each)
			damaged = append(damaged, more...)
			if err != nil {
				return damaged, err
			}
		}
	}
	return damaged, nil
}

// segments are the paths of the segments in a directory, the oldest first.
func (a *DecisionArchive) segments(dir string) ([]string, error) {
	entries, err := fs.ReadDir(a.files, dir)
	if err != nil {
		return nil, err
	}
	numbers := map[string]uint64{}
	var names []string
	for _, e := range entries {
		if number, ok := segmentNumber(e.Name()); ok && e.Type().IsRegular() {
			name := path.Join(dir, e.Name())
			names, numbers[name] = append(names, name), number
		}
	}
	slices.SortFunc(names, func(x, y string) int { return cmp.Compare(numbers[x], numbers[y]) })
	return names, nil
}

// segment gives the records of one.
func (a *DecisionArchive) segment(name string, each func(*DecisionRecord, *Exhibits) error) (damaged []error, err error) {
	text, err := a.read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // it made room meanwhile
	}
	if err != nil {
		return nil, err
	}
	e := &Exhibits{archive: a, segment: name, inputs: map[string][]byte{}}
	for number := 1; len(text) > 0; number++ {
		one, rest, err := cutLine(text)
		text = rest
		if err != nil {
			damaged = append(damaged, fmt.Errorf("%s:%d: %w", name, number, err))
			continue
		}
		switch one.kind {
		case lineInput:
			e.inputs[one.digest] = one.body
		case lineRecord:
			r := &DecisionRecord{}
			if err := json.Unmarshal(one.body, r); err != nil || r.ID == "" {
				damaged = append(damaged, fmt.Errorf("%s:%d: no record of a decision: %w", name, number, cmp.Or(err, errors.New("it has no ID"))))
				continue
			}
			if err := each(r, e); err != nil {
				return damaged, err
			}
		}
	}
	return damaged, nil
}

// Entry is a record with the documents that it names.
func (e *Exhibits) Entry(r *DecisionRecord) (DecisionEntry, error) {
	entry := DecisionEntry{Record: r, Inputs: map[string][]byte{}}
	for _, digest := range r.inputs() {
		text, err := e.Input(digest)
		if err != nil {
			return entry, err
		}
		entry.Inputs[digest] = text
	}
	return entry, nil
}

// Input is a document that a decision saw, as JSON: the one whose digest is asked
// for.
func (e *Exhibits) Input(digest string) ([]byte, error) {
	text, ok := e.inputs[digest]
	switch {
	case !ok:
		return nil, fmt.Errorf("%s does not have the document %s", e.segment, digest)
	case digestOf(text) != digest:
		return nil, fmt.Errorf("the document %s in %s is another one", digest, e.segment)
	}
	return text, nil
}

// PolicyFile is a document or a module of a policy: the one whose digest is asked
// for.
func (e *Exhibits) PolicyFile(digest string) ([]byte, error) {
	name := path.Join(decisionsDir, filesDir, path.Base(digest)+fileSuffix)
	packed, err := e.archive.read(name)
	if err != nil {
		return nil, err
	}
	return unpacked(name, packed, digest)
}

// read reads a file that is no longer than any of a state directory may be, whatever
// it says of its length.
func (a *DecisionArchive) read(name string) ([]byte, error) {
	f, err := a.files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var text []byte
	if info.Mode().IsRegular() && info.Size() <= maxFile {
		text, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile || len(text) > maxFile {
		return nil, fmt.Errorf("%s is no regular file of at most %d bytes", name, maxFile)
	}
	return text, err
}

// unpacked is the content of a policy's file, which its digest names.
func unpacked(name string, packed []byte, digest string) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	data, err := io.ReadAll(io.LimitReader(r, maxFile))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if digestOf(data) != digest {
		return nil, fmt.Errorf("%s does not hold what its name says", name)
	}
	return data, nil
}
