package documents

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

// Problem is the reason why a document is not used.
type Problem struct {
	api.Problem
	// Entry is the last valid version of the document, nil for none.
	Entry *Entry
}

// Count returns the number of documents, good and bad. It does not include faults that only follow
// from another fault, or that stand for documents that are kept.
func (s *Set) Count() int {
	n := len(s.entries)
	for id := range s.faults {
		if s.entries[id] == nil && !s.Follows(id) && !s.keepsBy(id) {
			n++
		}
	}
	return n
}

// Problems returns the problems of the documents, in no order: faults, and documents whose pod is
// already defined by another document.
func (s *Set) Problems() (all []Problem) {
	for id, f := range s.faults {
		if s.Follows(id) {
			continue
		}
		lines := f.Err.Lines()
		e := s.entries[id]
		p := Problem{api.Problem{Document: id, Message: lines[0] + s.Consequence(id), Since: f.Since, Kept: e != nil || s.keepsBy(id)}, e}
		if len(lines) > 1 {
			p.More = lines[1:]
		}
		p.Namespace, p.Name = f.Claims.Namespace, f.Claims.Name
		all = append(all, p)
	}
	for _, g := range s.groups {
		first := g.first
		for _, e := range g.entries {
			if e == first || s.faults[e.ID] != nil {
				continue
			}
			all = append(all, Problem{api.Problem{
				Document: e.ID, Since: e.FirstSeen, Namespace: e.Identity.Namespace, Name: e.Identity.Name,
				Message: fmt.Sprintf("%s: %s is already defined by %s, which was first; remove or rename one of them", e.ID, e.Identity, first.ID),
			}, e})
		}
	}
	return all
}

// Kept reports whether an entry is kept for a document that cannot be used.
func (s *Set) Kept(id string) bool { return s.entries[id] != nil || s.keepsBy(id) }

// Follows reports whether a document holds its manifest only because other documents of the
// manifest have faults. Those other faults are counted.
func (s *Set) Follows(id string) bool {
	path, holds := strings.CutSuffix(id, api.HoldSuffix)
	return holds && s.faults[id] != nil && s.cause(path) != ""
}

// cause returns the ID of the document because of which a manifest is held: the last document with
// a fault that does not name its pod, else the last with a fault. It is empty if the manifest as a
// whole is at fault.
func (s *Set) cause(path string) (id string) {
	named := true
	for have := range s.manifests[path] {
		f := s.faults[have]
		if f == nil || strings.HasSuffix(have, api.HoldSuffix) {
			continue
		}
		names := f.Claims != (types.NamespacedName{})
		if id == "" || named && !names || named == names && api.CompareDocuments(have, id) > 0 {
			id, named = have, names
		}
	}
	return id
}

// keepsBy reports whether a document that holds its manifest keeps an entry.
func (s *Set) keepsBy(id string) bool {
	path, held := strings.CutSuffix(id, api.HoldSuffix)
	if !held {
		return false
	}
	for of := range s.manifests[path] {
		if s.entries[of] != nil {
			return true
		}
	}
	return false
}

// Consequence returns what a document with a fault causes for the other pods of its manifest, as
// the end of a sentence. It is empty unless the manifest is held because of that document.
func (s *Set) Consequence(id string) string {
	path, ok := api.ManifestOf(id)
	if !ok {
		return ""
	}
	holdID := path + api.HoldSuffix
	hold := s.faults[holdID]
	if hold == nil || holdID == id || !s.keepsBy(holdID) || s.cause(path) != id {
		return ""
	}
	return "; " + hold.Err.Err.Error()
}
