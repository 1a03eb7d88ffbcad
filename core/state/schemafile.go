package state

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Schema is the version of the state this agent reads and writes.
const Schema = 1

// schemaCopyFile says what schemaFile says: were that unreadable alone, an agent would
// take the state of any other version for its own.
const schemaCopyFile = "schema-copy.json"

// schema is what the files of those names say.
type schema struct {
	Schema int `json:"schema"`
}

// checkSchema refuses the state of a newer agent before anything is changed.
func (d *Dir) checkSchema() error {
	stored, found, missing, err := d.loadSchema()
	switch {
	case err != nil:
		return err
	case !found:
		return d.storeSchema(schema{Schema: Schema})
	case stored.Schema > Schema:
		return fmt.Errorf("it has schema %d, this agent knows up to %d: run the newer agent that wrote it, or start afresh with another state_root", stored.Schema, Schema)
	case missing != "":
		d.mendSchema(missing, stored)
	}
	return nil
}

// storeSchema writes both files, the copy last.
func (d *Dir) storeSchema(s schema) error {
	if err := d.store(schemaFile, s); err != nil {
		return err
	}
	return d.store(schemaCopyFile, s)
}

// loadSchema reads the schema, from the copy where the file itself cannot be read.
// missing is the one of the two that is to be written anew, if any. It is not found
// where no agent has used the directory.
func (d *Dir) loadSchema() (stored schema, found bool, missing string, err error) {
	stored, found, err = d.readSchema(schemaFile)
	if err != nil {
		return schema{}, false, "", err
	}
	copied, copyFound, err := d.readSchema(schemaCopyFile)
	switch {
	case !found && err != nil:
		return schema{}, false, "", err
	case found && copyFound && copied.Schema > stored.Schema:
		// It is written last, so this is no write that was cut short.
		return schema{}, false, "", fmt.Errorf("%s says %d and %s says %d: restore the whole directory from one backup, or remove the one of the two that is wrong",
			schemaFile, stored.Schema, schemaCopyFile, copied.Schema)
	case found && copyFound && copied == stored:
		return stored, true, "", nil
	case found:
		return stored, true, schemaCopyFile, nil
	case copyFound:
		return copied, true, schemaFile, nil
	}
	used, err := d.used()
	if err == nil && used {
		err = fmt.Errorf("%s and %s are both missing or corrupt, so the version of the agent that can read it is unknown: put one of them back from a backup; "+
			"or, if no other version has used it, take one that this version makes in another state_root; or start afresh with another state_root", schemaFile, schemaCopyFile)
	}
	return schema{}, false, "", err
}

// readSchema reads one of the two files. One that is corrupt is moved aside.
func (d *Dir) readSchema(name string) (stored schema, found bool, err error) {
	found, err = d.load(name, &stored)
	if err == nil && found && stored.Schema < 1 {
		found, err = false, d.quarantine(name, errors.New("it names no schema"))
	}
	return stored, found, err
}

// used reports whether an agent has put anything into the directory that has a schema.
func (d *Dir) used() (bool, error) {
	if !d.fresh() {
		return true, nil
	}
	documents, err := os.Open(filepath.Join(d.path, documentsDir))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer documents.Close()
	names, err := documents.Readdirnames(1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return len(names) > 0, err
}

// mendSchema has the other file say the schema, too. One is enough to go on with, so
// that failing is no more than told.
func (d *Dir) mendSchema(missing string, stored schema) {
	if err := d.store(missing, stored); err != nil {
		d.log.Warn("only one file says which schema the state has; if that is lost, the agent does not start: mend it and start the agent again", "err", err)
	}
}
