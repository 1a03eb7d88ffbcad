package state

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/state/durable"
)

// Record is what is kept of one document.
type Record struct {
	// Source and ID name the document, Version its content; see api.Document.
	Source  string `json:"source"`
	ID      string `json:"id"`
	Version string `json:"version"`
	// Pod is the last valid version.
	Pod *v1.Pod `json:"pod"`
	// Decided is what was last handed on for this document, admitted or
	// rejected; nil where nothing was.
	Decided *Decided `json:"decided,omitempty"`
	// Suppressed is set while a filter holds Pod back.
	Suppressed *Suppressed `json:"suppressed,omitempty"`
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
	Origin api.Origin `json:"origin"`
	// Verdict is what policy said, nil if no policy was asked. If it is Deny, the
	// pod does not run.
	Verdict *api.Verdict `json:"verdict,omitempty"`
	// After is the pod whose place it takes, and that has to end first; empty
	// for none.
	After types.UID `json:"after,omitempty"`
	// Identity is what the pod runs as, where its document has come to stand for
	// something else since; nil where the pod says it, as the record's does.
	Identity *types.NamespacedName `json:"identity,omitempty"`
}

// Suppressed is how long a filter has held a version back, and may.
type Suppressed struct {
	Since time.Time `json:"since"`
	// Until is when the version passes whatever the filter says, by the wall
	// clock.
	Until time.Time `json:"until"`
	// Verdict is what policy said of the version, nil if no policy was asked.
	Verdict *api.Verdict `json:"verdict,omitempty"`
}

// DocumentID names a document of a source.
type DocumentID struct{ Source, ID string }

func (id DocumentID) String() string {
	return fmt.Sprintf("document %s of source %s", id.ID, id.Source)
}

// file is the document's file in the directory of documents.
func (id DocumentID) file() string {
	sum := sha256.Sum256([]byte(id.Source + "\x00" + id.ID))
	return hex.EncodeToString(sum[:16]) + recordSuffix
}

func (r *Record) document() DocumentID { return DocumentID{r.Source, r.ID} }

func (r *Record) String() string { return r.document().String() }

func (r *Record) file() string { return filepath.Join(documentsDir, r.document().file()) }

// recordSuffix ends the names of files that are records.
const recordSuffix = ".json"

// Documents keeps one record per document.
type Documents struct{ dir *Dir }

// Documents is the store of documents.
func (d *Dir) Documents() Documents { return Documents{d} }

func (s Documents) path() string { return filepath.Join(s.dir.path, documentsDir) }

// Put stores a record in place of the one with the same source and ID. When
// it returns nil the record is on the disk.
func (s Documents) Put(r *Record) error { return s.write(r, durable.Write) }

// Delete removes a record; one that does not exist is removed.
func (s Documents) Delete(source, id string) error {
	doc := DocumentID{source, id}
	if err := durable.Remove(s.dir.fs, s.path(), doc.file()); err != nil {
		return fmt.Errorf("%s: %w", doc, err)
	}
	return nil
}

// write stores a record as how does it.
func (s Documents) write(r *Record, how func(fs durable.Filesystem, dir, name string, data []byte) error) error {
	if err := r.usable(); err != nil {
		return fmt.Errorf("%s: %w", r.document(), err)
	}
	data, err := seal(r)
	if err == nil {
		err = how(s.dir.fs, s.path(), r.document().file(), data)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", r.document(), err)
	}
	return nil
}

// usable says what keeps the mux from going on with a record.
func (r *Record) usable() error {
	if r.Source == "" || r.ID == "" {
		return errors.New("it names no document")
	}
	if r.Pod == nil {
		return errors.New("no pod to keep")
	}
	if err := complete(r.Pod); err != nil {
		return err
	}
	if s := r.Suppressed; s != nil {
		if s.Since.IsZero() || s.Until.Before(s.Since) {
			return errors.New("it does not say how long it is held back")
		}
		if s.Verdict != nil && s.Verdict.Answer != api.Allow {
			return fmt.Errorf("it is held back by a filter, and the verdict is %q", s.Verdict.Answer)
		}
		if err := changes(s.Verdict, r.Pod); err != nil {
			return err
		}
	}
	if r.Decided == nil {
		return nil
	}
	if r.Decided.Origin.Source == "" {
		return errors.New("the decided pod has no source")
	}
	if v := r.Decided.Verdict; v != nil && !slices.Contains([]api.Answer{api.Allow, api.Hold, api.Deny}, v.Answer) {
		return fmt.Errorf("unknown verdict %q", v.Answer)
	}
	p := r.Pod
	if r.Decided.Pod != nil {
		if p = r.Decided.Pod; complete(p) != nil {
			return complete(p)
		}
	}
	if id := r.Decided.Identity; id != nil && (id.Name == "" || id.Namespace != p.Namespace) {
		return fmt.Errorf("the decided pod has the key %q, which no pod of namespace %q has", id, p.Namespace)
	}
	return changes(r.Decided.Verdict, p)
}

// changes says what keeps what policies have changed from being of a pod.
func changes(v *api.Verdict, p *v1.Pod) error {
	if v == nil || v.Mutation == nil {
		return nil
	}
	return v.Mutation.Usable(p)
}

// complete says what a pod lacks that every pod has.
func complete(p *v1.Pod) error {
	switch {
	case p.UID == "":
		return errors.New("the pod has no UID")
	case p.Name == "" || p.Namespace == "":
		return errors.New("the pod has no name or no namespace")
	case len(p.Spec.Containers) == 0:
		return errors.New("the pod has no containers")
	}
	return nil
}
