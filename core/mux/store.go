package mux

import (
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

// store is everything the mux knows: per source its documents, and per
// identity of a source the one pod that is to run.
type store struct {
	sources map[string]*sourceStore
	// owner says which slot the sync loop knows a UID by, claims which slots
	// wait with a UID, in the order they began to: it is the first's.
	owner  map[types.UID]*slot
	claims map[types.UID][]*slot
	// refused are slots whose pod has a UID that another slot owns, in the
	// order they were refused.
	refused []*slot

	// gated is true where a gate is asked, stopDenied where a pod ends when its
	// replacement is not let through. parked are all waits, asked those
	// whose question is under way, by ticket; tickets is the last one given.
	gated, stopDenied bool

	parked  map[*wait]bool
	asked   map[uint64]*wait
	tickets uint64

	seals *seals
}

// sourceStore is one source's part of the store.
type sourceStore struct {
	Source
	seen     bool
	lastRead time.Time
	health   error
	entries  map[string]*entry
	slots    map[types.NamespacedName]*slot
}

// entry is one document.
type entry struct {
	id string
	// version is that of the document as last read, good or bad.
	version string
	// pod is the last valid version, nil if there never was one.
	pod *v1.Pod
	// podVersion is the version pod was read from.
	podVersion string
	// fault is set while the document as last read cannot be used.
	fault *pod.DocumentError
	since time.Time
	// slot is the identity pod belongs to, nil with pod.
	slot *slot
	// restored: pod is from the disk and its source has not spoken yet.
	restored bool
}

// slot is one identity within one source. Of its entries one is chosen; sent
// is the version of it that the sync loop has.
type slot struct {
	source   *sourceStore
	identity types.NamespacedName
	// entries are ordered by ID.
	entries []*entry
	chosen  *entry
	sent    *sent
	// clash says why the chosen pod cannot be sent, empty if it can.
	clash string
	// wait is set while the chosen version needs a verdict. successor is the
	// wait of another slot, until whose version passes sent is kept.
	wait, successor *wait
}

// sent is a pod the sync loop has.
type sent struct {
	pod      *v1.Pod
	origin   pod.Origin
	restored bool
	// verdict is what policy said of it, nil where nobody was asked.
	verdict *pod.Verdict
}

// denied reports whether the pod was handed on as rejected: it does not run.
func (s *sent) denied() bool { return s.verdict != nil && s.verdict.Answer == pod.Deny }

// runs reports whether the sync loop has a pod of the slot that was admitted.
func (sl *slot) runs() bool { return sl.sent != nil && !sl.sent.denied() }

// verdict is the verdict with which the slot's version passes, nil if it needs
// none.
func (sl *slot) verdict() *pod.Verdict {
	if sl.wait == nil {
		return nil
	}
	return sl.wait.verdict
}

func newStore(sources []Source) *store {
	s := &store{
		sources: make(map[string]*sourceStore, len(sources)),
		owner:   map[types.UID]*slot{},
		claims:  map[types.UID][]*slot{},
		parked:  map[*wait]bool{},
		asked:   map[uint64]*wait{},
		seals:   newSeals(),
	}
	for _, src := range sources {
		s.sources[src.Name] = &sourceStore{
			Source:  src,
			entries: map[string]*entry{},
			slots:   map[types.NamespacedName]*slot{},
		}
	}
	return s
}

// place moves e to the slot of p's identity.
func (s *sourceStore) place(e *entry, p *v1.Pod) (left, entered *slot) {
	id := pod.Identity(p)
	if e.slot != nil && e.slot.identity == id {
		return nil, e.slot
	}
	left = s.displace(e)
	sl := s.slot(id)
	at, _ := slices.BinarySearchFunc(sl.entries, e.id, func(have *entry, id string) int {
		return strings.Compare(have.id, id)
	})
	sl.entries = slices.Insert(sl.entries, at, e)
	e.slot = sl
	return left, sl
}

// slot gives the slot of an identity, and makes it if there is none.
func (s *sourceStore) slot(id types.NamespacedName) *slot {
	sl := s.slots[id]
	if sl == nil {
		sl = &slot{source: s, identity: id}
		s.slots[id] = sl
	}
	return sl
}

// displace takes e out of its slot and gives the slot, nil if it had none.
func (s *sourceStore) displace(e *entry) *slot {
	sl := e.slot
	if sl == nil {
		return nil
	}
	sl.entries = slices.DeleteFunc(sl.entries, func(have *entry) bool { return have == e })
	e.slot = nil
	return sl
}

// choose decides which entry of the slot runs: the one already known, else one
// with the UID the sync loop has (a renamed file), else the first by ID.
func (sl *slot) choose() {
	if sl.chosen != nil && sl.chosen.slot == sl {
		return
	}
	sl.chosen = nil
	for _, e := range sl.entries {
		if sl.sent != nil && e.pod.UID == sl.sent.pod.UID {
			sl.chosen = e
			return
		}
	}
	if len(sl.entries) > 0 {
		sl.chosen = sl.entries[0]
	}
}
