package documents

import (
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// Set holds the documents of one source.
type Set struct {
	source  string
	entries map[string]*Entry
	faults  map[string]*Fault
	// manifests has the IDs of the entries and faults of each manifest, by its path.
	manifests map[string]map[string]bool
	groups    map[types.NamespacedName]*group
	// claims has the IDs of the faults that name a pod, by the pod's identity.
	claims map[types.NamespacedName][]string
}

// Entry is the last valid version of a document.
type Entry struct {
	Source string
	// ID is the place of the document, see api.Document.
	ID       string
	Identity types.NamespacedName
	// Version is the version of the document from which Pod was read.
	Version string
	Pod     *v1.Pod
	// FirstSeen is when the source first had a document of this identity.
	FirstSeen time.Time
	// Restored: Pod is from the disk, and the source has not confirmed it yet.
	Restored bool
	// Suppressed is the stored state of a filter's hold on Pod, nil for none.
	Suppressed *state.Suppressed
}

// Fault is a document that cannot be used.
type Fault struct {
	Err *api.DocumentError
	// Since is when the document began to have this fault.
	Since time.Time
	// Claims is the identity of the pod that the document names, zero for none.
	Claims types.NamespacedName
}

// group has the entries of one identity, ordered by ID.
type group struct {
	entries []*Entry
	// first is the entry that is used. It may have been removed, until the next one is chosen.
	first *Entry
}

// NewSet returns the empty set of a source.
func NewSet(source string) *Set {
	return &Set{
		source:    source,
		entries:   map[string]*Entry{},
		faults:    map[string]*Fault{},
		manifests: map[string]map[string]bool{},
		groups:    map[types.NamespacedName]*group{},
		claims:    map[types.NamespacedName][]string{},
	}
}

// Entry returns the last valid version of the document with this ID, nil if there is none.
func (s *Set) Entry(id string) *Entry { return s.entries[id] }

// Has reports whether the entry is in the set.
func (s *Set) Has(e *Entry) bool { return e != nil && s.entries[e.ID] == e }

// Fault returns the fault of the document with this ID, nil if it has none.
func (s *Set) Fault(id string) *Fault { return s.faults[id] }

// Of returns the entries of an identity, ordered by ID. The caller must not change them.
func (s *Set) Of(identity types.NamespacedName) []*Entry {
	if g := s.groups[identity]; g != nil {
		return g.entries
	}
	return nil
}

// First returns the entry of an identity that is used, nil if the identity has no entry. This is
// the entry that was used before, else one with the same UID (its file was renamed), else the first
// by ID.
func (s *Set) First(identity types.NamespacedName) *Entry {
	g := s.groups[identity]
	if g == nil {
		return nil
	}
	if slices.Contains(g.entries, g.first) {
		return g.first
	}
	next := 0
	if g.first != nil {
		next = max(0, slices.IndexFunc(g.entries, func(e *Entry) bool { return e.Pod.UID == g.first.Pod.UID }))
	}
	g.first = g.entries[next]
	return g.first
}

// Restore adds a document from the disk. The entry of an identity that is restored first is used.
func (s *Set) Restore(r *state.Record) *Entry {
	e := &Entry{
		Source: s.source, ID: r.ID, Identity: pod.Identity(r.Pod), Version: r.Version, Pod: r.Pod, FirstSeen: r.FirstSeen, Restored: true,
	}
	s.put(e)
	s.First(e.Identity)
	return e
}

// put adds an entry under its ID, and to its group.
func (s *Set) put(e *Entry) {
	s.entries[e.ID] = e
	s.list(e.ID)
	g := s.groups[e.Identity]
	if g == nil {
		g = &group{}
		s.groups[e.Identity] = g
	}
	at, _ := slices.BinarySearchFunc(g.entries, e.ID, func(have *Entry, id string) int { return strings.Compare(have.ID, id) })
	g.entries = slices.Insert(g.entries, at, e)
}

// remove removes an entry from the set.
func (s *Set) remove(e *Entry) {
	if s.entries[e.ID] == e {
		delete(s.entries, e.ID)
		s.unlist(e.ID)
	}
	g := s.groups[e.Identity]
	if g == nil {
		return
	}
	if g.entries = slices.DeleteFunc(g.entries, func(have *Entry) bool { return have == e }); len(g.entries) == 0 {
		delete(s.groups, e.Identity)
	}
}

// blame sets the fault of a document, nil for none.
func (s *Set) blame(id string, f *Fault) {
	before := s.faults[id]
	if before != nil {
		delete(s.faults, id)
		others := slices.DeleteFunc(s.claims[before.Claims], func(have string) bool { return have == id })
		if s.claims[before.Claims] = others; len(others) == 0 {
			delete(s.claims, before.Claims)
		}
	}
	if f == nil {
		s.unlist(id)
		return
	}
	s.faults[id] = f
	s.list(id)
	if f.Claims != (types.NamespacedName{}) {
		s.claims[f.Claims] = append(s.claims[f.Claims], id)
	}
}

// list adds an ID to the IDs of its manifest.
func (s *Set) list(id string) {
	path, ok := api.ManifestOf(id)
	if !ok {
		return
	}
	if s.manifests[path] == nil {
		s.manifests[path] = map[string]bool{}
	}
	s.manifests[path][id] = true
}

// unlist removes an ID from the IDs of its manifest, unless it has an entry or a fault.
func (s *Set) unlist(id string) {
	path, ok := api.ManifestOf(id)
	if !ok || s.entries[id] != nil || s.faults[id] != nil {
		return
	}
	delete(s.manifests[path], id)
	if len(s.manifests[path]) == 0 {
		delete(s.manifests, path)
	}
}

// isHeld reports whether the manifest of an ID is held, so that no entry of it may be removed.
func (s *Set) isHeld(id string) bool {
	path, ok := api.ManifestOf(id)
	return ok && s.faults[path+api.HoldSuffix] != nil
}

// isMisplaced reports whether the entry's document has a fault and names another pod. The entry is
// kept because the document may be that of the entry's pod, with a name that is not right yet.
func (s *Set) isMisplaced(e *Entry) bool {
	f := s.faults[e.ID]
	return s.Has(e) && f != nil && f.Claims != (types.NamespacedName{}) && f.Claims != e.Identity
}
