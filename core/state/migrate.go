package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Schema is the version of the state this agent reads and writes.
const Schema = 1

// copiesDir holds what the state was before it was migrated, by its schema.
const copiesDir = "copies"

// migration brings the state of one schema to the next. It replaces files and never
// writes into them, for the copy of the state shares them. It may be cut short, and
// is then run again on what it has made so far.
type migration func(d *Dir) error

// migrations are by the schema that they begin with.
func migrations() map[int]migration { return map[int]migration{} }

// checkSchema refuses the state of a newer agent before anything is changed, and
// migrates that of an older one.
func (d *Dir) checkSchema() error {
	stored, found, missing, err := d.loadSchema()
	switch {
	case err != nil:
		return err
	case !found:
		return d.storeSchema(schema{Schema: d.schema})
	case stored.Schema > d.schema:
		return d.tooNew(stored.Schema)
	case stored.From > 0 && stored.From < stored.Schema:
		return d.migrate(stored.From, true)
	case stored.Schema < d.schema:
		return d.migrate(stored.Schema, false)
	case missing != "":
		d.mendSchema(missing, stored)
	}
	return nil
}

// tooNew is the error for the state of a newer agent, with what can be done.
func (d *Dir) tooNew(stored int) error {
	instead := "or start afresh with another state_root"
	for s := d.schema; s > 0; s-- {
		if info, err := os.Lstat(d.copyOf(s)); err == nil && info.IsDir() {
			instead = fmt.Sprintf("or go back to what it was before the upgrade: move %s away and %s, from there, in its place", d.path,
				filepath.Join(copiesDir, filepath.Base(d.copyOf(s))))
			break
		}
	}
	return fmt.Errorf("it has schema %d, this agent knows up to %d: run the newer agent that wrote it, %s", stored, d.schema, instead)
}

func (d *Dir) copyOf(schema int) string {
	return filepath.Join(d.path, copiesDir, "schema-"+strconv.Itoa(schema))
}

// migrate brings the state from a schema to this agent's. From the first change on
// it is the newer agent's: an older one refuses it. underway: a process before this
// one has begun with it, and made the copy.
func (d *Dir) migrate(from int, underway bool) error {
	for s := from; s < d.schema; s++ {
		if d.migrations[s] == nil {
			return fmt.Errorf("it has schema %d, which this agent cannot migrate: run an agent of a version between, or start afresh with another state_root", from)
		}
	}
	if !underway {
		if err := d.keepCopy(from); err != nil {
			return fmt.Errorf("it has schema %d, and no copy of it can be made before it is migrated: %w; mend that, or run the earlier agent", from, err)
		}
	}
	if err := d.storeSchema(schema{Schema: d.schema, From: from}); err != nil {
		return err
	}
	for s := from; s < d.schema; s++ {
		if err := d.migrations[s](d); err != nil {
			return fmt.Errorf("migrating schema %d: %w; what it was is in %s", s, err, d.copyOf(from))
		}
	}
	if err := d.storeSchema(schema{Schema: d.schema}); err != nil {
		return err
	}
	d.log.Info("the state was migrated", "from", from, "to", d.schema, "copy", d.copyOf(from))
	return nil
}

// uncopied is what a copy is without: what can be made anew, what an agent holds,
// what is no state, and records of decisions, which any agent can read.
var uncopied = map[string]bool{lockFile: true, quarantineDir: true, copiesDir: true, decisionsDir: true, "compiled": true}

// keepCopy makes a copy of the state, in place of one of an earlier upgrade.
func (d *Dir) keepCopy(from int) error {
	to := d.copyOf(from)
	if err := ownDir(filepath.Dir(to)); err != nil {
		return fmt.Errorf("%s: %w", filepath.Dir(to), err)
	}
	temp := filepath.Join(filepath.Dir(to), tempPrefix+filepath.Base(to))
	if err := os.RemoveAll(temp); err != nil {
		return err
	}
	if err := d.copyTree(temp, d.path, uncopied); err != nil {
		return errors.Join(err, os.RemoveAll(temp))
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := d.fs.rename(temp, to); err != nil {
		return err
	}
	return errors.Join(d.fs.syncDir(filepath.Dir(to)), d.fs.syncDir(d.path))
}

// copyTree makes a directory of what another holds, but for some. Files are shared
// where the file system can do that: the agent never writes into one.
func (d *Dir) copyTree(to, from string, but map[string]bool) error {
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if but[entry.Name()] || strings.HasPrefix(entry.Name(), tempPrefix) {
			continue
		}
		source, target := filepath.Join(from, entry.Name()), filepath.Join(to, entry.Name())
		switch {
		case entry.IsDir():
			err = d.copyTree(target, source, nil)
		case entry.Type().IsRegular():
			err = d.copyFile(target, source)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return d.fs.syncDir(to)
}

func (d *Dir) copyFile(to, from string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	data, err := readFile(from)
	if err != nil {
		return err
	}
	return replaceFile(d.fs, filepath.Dir(to), filepath.Base(to), data)
}
