package state

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/wardlet/wardlet/core/state/durable"
)

// Table stores one record per key, each in a file of its own below the state directory. It may be
// used from any goroutine. Of two concurrent calls for the same key, one takes effect.
type Table[K, T any, P keyed[K, T]] struct {
	dir    *Dir
	folder string
}

// keyed is a record of a table.
type keyed[K, T any] interface {
	filed[T]
	key() K
}

// Put stores a record in place of the one with the same key. When it returns nil the
// record is on the disk.
func (t Table[K, T, P]) Put(record P) error {
	if err := record.usable(); err != nil {
		return fmt.Errorf("%s: %w", record, err)
	}
	return t.dir.store(t.file(record.key()), record)
}

// Delete removes the record of a key. A missing record is no error.
func (t Table[K, T, P]) Delete(key K) error {
	dir, name := filepath.Split(filepath.Join(t.dir.path, t.file(key)))
	return durable.Remove(t.dir.fs, filepath.Clean(dir), name)
}

// Apply stores records in place of those with the same keys, and removes those of other keys. A
// missing record is no error. When it returns nil, all changes are on the disk. Otherwise some of
// them may be, each record whole.
func (t Table[K, T, P]) Apply(put []T, remove []K) error {
	if len(put)+len(remove) == 0 {
		return nil
	}
	errs := make([]error, len(put)+len(remove)+1)
	if len(put) > 0 {
		inParallel(len(put), func(i int) { errs[i] = t.write(&put[i]) })
	}
	for i, key := range remove {
		err := t.dir.fs.Remove(filepath.Join(t.dir.path, t.file(key)))
		if !errors.Is(err, os.ErrNotExist) {
			errs[len(put)+i] = err
		}
	}
	errs[len(put)+len(remove)] = t.dir.fs.SyncDir(filepath.Join(t.dir.path, t.folder))
	return errors.Join(errs...)
}

// write replaces a record's file without a sync of the directory.
func (t Table[K, T, P]) write(record P) error {
	data, err := seal(record)
	if err == nil {
		err = record.usable()
	}
	if err == nil {
		dir, name := filepath.Split(filepath.Join(t.dir.path, t.file(record.key())))
		err = durable.Replace(t.dir.fs, filepath.Clean(dir), name, data)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", record, err)
	}
	return nil
}

// Load returns all records, in no order. The errors name files that cannot be read. Corrupt files
// are moved into quarantine and only logged.
func (t Table[K, T, P]) Load() ([]T, []error) {
	all, _, errs := loadAll(t.dir, t.folder, func(record P) string { return t.file(record.key()) })
	return all, errs
}

// file returns the path of a key's file below the state directory. It hashes the key, which may be
// any text from a manifest.
func (t Table[K, T, P]) file(key K) string {
	sum := sha256.Sum256([]byte(fmt.Sprint(key)))
	return filepath.Join(t.folder, hex.EncodeToString(sum[:16])+recordSuffix)
}
