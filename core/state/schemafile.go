package state

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Schema is the version of the state that this agent reads and writes.
const Schema = 1

// schemaCopyFile has the same content as schemaFile. If only schemaFile existed and were
// unreadable, an agent would treat the state of any version as its own.
const schemaCopyFile = "schema-copy.json"

// schema is the content of both files.
type schema struct {
	Schema int `json:"schema"`
}

// checkSchema fails for the state of a newer agent, before anything is changed.
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

// loadSchema reads the schema, from the copy if the file itself cannot be read. missing is the file
// of the two that must be rewritten, empty for none. found is false if no agent has used the
// directory.
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
		// The copy is written last, so a newer copy is not the result of an interrupted write.
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

// readSchema reads one of the two files. A corrupt file is moved into quarantine.
func (d *Dir) readSchema(name string) (stored schema, found bool, err error) {
	found, err = d.load(name, &stored)
	if err == nil && found && stored.Schema < 1 {
		found, err = false, d.quarantine(name, errors.New("it names no schema"))
	}
	return stored, found, err
}

// used reports whether an agent has stored data in the directory.
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

// mendSchema rewrites the missing file. One file is sufficient to continue, so a failed write is
// only logged.
func (d *Dir) mendSchema(missing string, stored schema) {
	if err := d.store(missing, stored); err != nil {
		d.log.Warn("only one file says which schema the state has; if that is lost, the agent does not start: mend it and start the agent again", "err", err)
	}
}
