package decisions

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/wardlet/wardlet/core/state/durable"
)

// Exhibits has the documents that the records of one segment name, and all files of policies.
type Exhibits struct {
	archive *Archive
	segment string
	inputs  map[string][]byte
}

// Entry is a record with the documents that it names.
func (e *Exhibits) Entry(r *Record) (Entry, error) {
	entry := Entry{Record: r, Inputs: map[string][]byte{}}
	for _, digest := range r.inputs() {
		text, err := e.Input(digest)
		if err != nil {
			return entry, err
		}
		entry.Inputs[digest] = text
	}
	return entry, nil
}

// Input returns the document with this digest that a decision saw, as JSON.
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

// ErrMadeRoom is the error for a record that was removed to make room after it was read, so that
// something that it names is missing: an agent is running and writes new records.
var ErrMadeRoom = errors.New("it is not on record any more")

// PolicyFile returns the document or module of a policy with this digest. The error is ErrMadeRoom
// if the records that named it are gone, too.
func (e *Exhibits) PolicyFile(digest string) ([]byte, error) {
	name := path.Join(DirName, filesDir, path.Base(digest)+fileSuffix)
	packed, err := e.archive.read(name)
	if errors.Is(err, fs.ErrNotExist) {
		// Segments are removed before the files that only they name.
		if _, gone := fs.Stat(e.archive.files, e.segment); errors.Is(gone, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w: %w", ErrMadeRoom, err)
		}
	}
	if err != nil {
		return nil, err
	}
	return unpacked(name, packed, digest)
}

// unpacked returns the content of a policy's file, and checks its digest.
func unpacked(name string, packed []byte, digest string) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	data, err := io.ReadAll(io.LimitReader(r, durable.MaxSize))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if digestOf(data) != digest {
		return nil, fmt.Errorf("%s does not hold what its name says", name)
	}
	return data, nil
}
