package state

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// Record is what is kept of one document.
type Record struct {
	// Source and ID name the document, Version its content; see pod.Document.
	Source  string `json:"source"`
	ID      string `json:"id"`
	Version string `json:"version"`
	// Pod is the last valid version.
	Pod *v1.Pod `json:"pod"`
	// Decided is what was last handed on for this document, admitted or
	// rejected; nil where nothing was.
	Decided *Decided `json:"decided,omitempty"`
	// FirstSeen is when the agent first saw the pod.
	FirstSeen time.Time `json:"firstSeen"`
	// Runs is true for the one document of its identity that runs.
	Runs bool `json:"runs"`
}

// Decided is a version of a pod that was decided about.
type Decided struct {
	// Pod is the version, nil where it is the record's.
	Pod *v1.Pod `json:"pod,omitempty"`
	// Origin is where that version came from.
	Origin pod.Origin `json:"origin"`
	// Verdict is what policy said, nil where nobody was asked. Where it is
	// Deny the pod does not run.
	Verdict *pod.Verdict `json:"verdict,omitempty"`
}

// Documents keeps one record per document.
type Documents struct{ dir *Dir }

// Documents is the store of documents.
func (d *Dir) Documents() Documents { return Documents{d} }

// Put stores a record in place of the one with the same source and ID. When
// it returns nil the record is on the disk.
func (s Documents) Put(r *Record) error {
	if r.Pod == nil {
		return fmt.Errorf("document %s of source %s: no pod to keep", r.ID, r.Source)
	}
	if err := s.dir.store(recordFile(r.Source, r.ID), r); err != nil {
		return fmt.Errorf("document %s of source %s: %w", r.ID, r.Source, err)
	}
	return nil
}

// Delete removes a record; one that does not exist is removed.
func (s Documents) Delete(source, id string) error {
	dir, name := filepath.Split(filepath.Join(s.dir.path, recordFile(source, id)))
	if err := removeFile(kernel{}, filepath.Clean(dir), name); err != nil {
		return fmt.Errorf("document %s of source %s: %w", id, source, err)
	}
	return nil
}

// Load reads the records of a source, ordered by file name. The errors name
// files that cannot be read; which source they belong to is not known. Those
// that are corrupt are moved aside, and no error but a log line.
func (s Documents) Load(source string) ([]Record, []error) {
	entries, err := os.ReadDir(filepath.Join(s.dir.path, documentsDir))
	if err != nil {
		return nil, []error{fmt.Errorf("stored documents: %w", err)}
	}
	var records []Record
	var errs []error
	for _, entry := range entries {
		name := filepath.Join(documentsDir, entry.Name())
		if !strings.HasSuffix(name, ".json") {
			continue
		}
		var r Record
		found, err := s.dir.load(name, &r)
		if err == nil && !found {
			s.dir.lost.Store(true)
		}
		if err == nil && found && (recordFile(r.Source, r.ID) != name || r.Pod == nil) {
			s.dir.lost.Store(true)
			found, err = false, s.dir.quarantine(name, errors.New("it is not the record of the document it names"))
		}
		if err != nil {
			s.dir.lost.Store(true)
			errs = append(errs, fmt.Errorf("stored document: %w", err))
		}
		if found && r.Source == source {
			records = append(records, r)
		}
	}
	return records, errs
}

// recordFile is the file of a document below the state directory.
func recordFile(source, id string) string {
	sum := sha256.Sum256([]byte(source + "\x00" + id))
	return filepath.Join(documentsDir, hex.EncodeToString(sum[:16])+".json")
}
