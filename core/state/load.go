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

// listed is the number of names of a directory that are held in memory at a time.
const listed = 1024

// filed is a record in a file of its own.
type filed[T any] interface {
	*T
	// String returns the name of the record for users.
	fmt.Stringer
	// usable returns an error if the agent cannot use the record: a file with a correct checksum
	// may have been written by another version of the agent.
	usable() error
}

// loadAll reads all records of a directory, in no order. file returns the path of a record below
// the state directory. The errors name the files that cannot be read. Corrupt files are moved into
// quarantine and only logged. lost is true if there was a file of either kind.
func loadAll[T any, P filed[T]](d *Dir, below string, file func(P) string) (all []T, lost bool, errs []error) {
	dir, err := os.Open(filepath.Join(d.path, below))
	if err != nil {
		return nil, true, []error{fmt.Errorf("stored %s: %w", below, err)}
	}
	defer dir.Close()
	for {
		entries, err := dir.ReadDir(listed)
		for _, entry := range entries {
			if !strings.HasSuffix(entry.Name(), recordSuffix) {
				continue
			}
			var one T
			found, err := loadOne(d, filepath.Join(below, entry.Name()), file, &one)
			if found {
				all = append(all, one)
			}
			lost = lost || !found
			if err != nil {
				errs = append(errs, fmt.Errorf("stored %s: %w", below, err))
			}
		}
		if errors.Is(err, io.EOF) {
			return all, lost, errs
		}
		if err != nil {
			return all, true, append(errs, fmt.Errorf("stored %s: %w", below, err))
		}
	}
}

// loadOne reads the record in a file. found is false if the file was moved into quarantine or
// cannot be read.
func loadOne[T any, P filed[T]](d *Dir, name string, file func(P) string, into P) (found bool, err error) {
	if found, err = d.load(name, into); err != nil || !found {
		return false, err
	}
	if err := into.usable(); err != nil {
		return false, d.quarantine(name, err)
	}
	if file(into) != name {
		return false, d.quarantine(name, fmt.Errorf("it is not in its place: it is that of %s", into))
	}
	return true, nil
}

// LoadAll reads the records of all sources, ordered by source and ID. The errors name files that
// cannot be read; their sources are not known. Corrupt files are moved into quarantine and only
// logged.
func (s Documents) LoadAll() ([]Record, []error) {
	records, lost, errs := loadAll(s.dir, documentsDir, (*Record).file)
	if lost {
		s.dir.lost.Store(true)
	}
	slices.SortFunc(records, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.ID, b.ID))
	})
	return records, errs
}

// Load reads the records of a source, ordered by ID. Otherwise it is the same as LoadAll.
func (s Documents) Load(source string) ([]Record, []error) {
	all, errs := s.LoadAll()
	return slices.DeleteFunc(all, func(r Record) bool { return r.Source != source }), errs
}
