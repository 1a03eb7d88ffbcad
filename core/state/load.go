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

// listed is how many names of a directory are held at a time.
const listed = 1024

// filed is what a file of a directory of records holds.
type filed[T any] interface {
	*T
	// String names it for people.
	fmt.Stringer
	// usable says what keeps the agent from going on with it: a file with a
	// good checksum may still be another agent's idea of one.
	usable() error
}

// loadAll reads what the files of a directory hold, in no order. file is the place of a
// record below the state directory. The errors
// name files that cannot be read; those that are corrupt are moved aside, and no
// error but a log line. lost is true where there was either.
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

// loadOne reads what is in a file. There is none where the file is moved aside,
// or cannot be read.
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

// LoadAll reads the records of all sources, ordered by source and ID. The
// errors name files that cannot be read; which source they belong to is not
// known. Those that are corrupt are moved aside, and no error but a log line.
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

// Load reads the records of a source, ordered by ID, and otherwise as LoadAll
// does.
func (s Documents) Load(source string) ([]Record, []error) {
	all, errs := s.LoadAll()
	return slices.DeleteFunc(all, func(r Record) bool { return r.Source != source }), errs
}
