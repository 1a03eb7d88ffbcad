package state

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// listed is how many names of the directory are held at a time.
const listed = 1024

// LoadAll reads the records of all sources, ordered by source and ID. The
// errors name files that cannot be read; which source they belong to is not
// known. Those that are corrupt are moved aside, and no error but a log line.
func (s Documents) LoadAll() ([]Record, []error) {
	dir, err := os.Open(s.path())
	if err != nil {
		return nil, []error{fmt.Errorf("stored documents: %w", err)}
	}
	defer dir.Close()
	var records []Record
	var errs []error
	for {
		entries, err := dir.ReadDir(listed)
		for _, entry := range entries {
			if !strings.HasSuffix(entry.Name(), recordSuffix) {
				continue
			}
			r, err := s.load(entry.Name())
			if r == nil {
				s.dir.lost.Store(true)
			} else {
				records = append(records, *r)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("stored document: %w", err))
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			s.dir.lost.Store(true)
			errs = append(errs, fmt.Errorf("stored documents: %w", err))
			break
		}
	}
	slices.SortFunc(records, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.ID, b.ID))
	})
	return records, errs
}

// Load reads the records of a source, ordered by ID, and otherwise as LoadAll
// does.
func (s Documents) Load(source string) ([]Record, []error) {
	all, errs := s.LoadAll()
	return slices.DeleteFunc(all, func(r Record) bool { return r.Source != source }), errs
}

// load reads the record in a file. It gives none where the file is moved
// aside, or cannot be read.
func (s Documents) load(name string) (*Record, error) {
	name = filepath.Join(documentsDir, name)
	var r Record
	found, err := s.dir.load(name, &r)
	if err != nil || !found {
		return nil, err
	}
	if err := r.usable(); err != nil {
		return nil, s.dir.quarantine(name, err)
	}
	if filepath.Base(name) != r.document().file() {
		return nil, s.dir.quarantine(name, fmt.Errorf("it is not in its place: it is the record of %s", r.document()))
	}
	return &r, nil
}
