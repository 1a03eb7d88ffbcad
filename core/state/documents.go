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

// Record is the stored state of one document.
type Record struct {
	// Source and ID name the document, Version its content; see api.Document.
	Source  string `json:"source"`
	ID      string `json:"id"`
	Version string `json:"version"`
	// Pod is the last valid version.
	Pod *v1.Pod `json:"pod"`
	// Decided is the version that was last sent to the sync loop for this document, admitted or
	// rejected; nil for none.
	Decided *Decided `json:"decided,omitempty"`
	// Suppressed is set while a filter holds Pod back.
	Suppressed *Suppressed `json:"suppressed,omitempty"`
	// FirstSeen is the time when the agent first saw the pod.
	FirstSeen time.Time `json:"firstSeen"`
	// Runs is true for the one document of its identity that runs.
	Runs bool `json:"runs"`
}

// Decided is a version of a pod with its verdict.
type Decided struct {
	// Pod is the version, nil if it is the record's Pod.
	Pod *v1.Pod `json:"pod,omitempty"`
	// Origin is the origin of that version.
	Origin api.Origin `json:"origin"`
	// Verdict is the verdict of policy, nil if no policy was asked. If it is Deny, the pod does not
	// run.
	Verdict *api.Verdict `json:"verdict,omitempty"`
	// After is the pod that this one replaces and that must terminate first; empty for none.
	After types.UID `json:"after,omitempty"`
	// Identity is the identity under which the pod runs, if its document has another identity now;
	// nil if it is the identity of the pod itself.
	Identity *types.NamespacedName `json:"identity,omitempty"`
}

// Suppressed says since when a filter has held a version back, and until when it may.
type Suppressed struct {
	Since time.Time `json:"since"`
	// Until is the time by the wall clock at which the version passes whatever the filter answers.
	Until time.Time `json:"until"`
	// Verdict is the verdict of policy about the version, nil if no policy was asked.
	Verdict *api.Verdict `json:"verdict,omitempty"`
}

// DocumentID names a document of a source.
type DocumentID struct{ Source, ID string }

func (id DocumentID) String() string {
	return fmt.Sprintf("document %s of source %s", id.ID, id.Source)
}

// file returns the name of the document's file in the directory of documents.
func (id DocumentID) file() string {
	sum := sha256.Sum256([]byte(id.Source + "\x00" + id.ID))
	return hex.EncodeToString(sum[:16]) + recordSuffix
}

func (r *Record) document() DocumentID { return DocumentID{r.Source, r.ID} }

func (r *Record) String() string { return r.document().String() }

func (r *Record) file() string { return filepath.Join(documentsDir, r.document().file()) }

// recordSuffix is the suffix of the names of record files.
const recordSuffix = ".json"

// Documents stores one record per document.
type Documents struct{ dir *Dir }

// Documents returns the store of documents.
func (d *Dir) Documents() Documents { return Documents{d} }

func (s Documents) path() string { return filepath.Join(s.dir.path, documentsDir) }

// Put stores a record in place of the one with the same source and ID. When
// it returns nil the record is on the disk.
func (s Documents) Put(r *Record) error { return s.write(r, durable.Write) }

// Delete removes a record. A missing record is no error.
func (s Documents) Delete(source, id string) error {
	doc := DocumentID{source, id}
	if err := durable.Remove(s.dir.fs, s.path(), doc.file()); err != nil {
		return fmt.Errorf("%s: %w", doc, err)
	}
	return nil
}

// write stores a record with the function how.
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

// usable returns an error if the mux cannot use the record.
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

// changes returns an error if the verdict's mutation cannot be applied to the pod.
func changes(v *api.Verdict, p *v1.Pod) error {
	if v == nil || v.Mutation == nil {
		return nil
	}
	return v.Mutation.Usable(p)
}

// complete returns an error if a pod lacks something that every pod has.
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
