package mux

import (
	"slices"
	"strings"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// store is everything the mux knows: per source its documents, and per
// identity of a source the one pod that is to run.
type store struct {
	sources map[string]*sourceStore
	// ordered are the sources by name.
	ordered []*sourceStore
	// owner says which slot the sync loop knows a UID by, claims which slots
	// wait with a UID, in the order they began to: it is the first's.
	owner  map[types.UID]*slot
	claims map[types.UID][]*slot
	// refused are slots whose pod has a UID that another slot owns, by that UID
	// and in the order they were refused.
	refused map[types.UID][]*slot

	// gated is true where a gate is asked, updatesOnly where that is only about newer
	// versions of pods that run, stopDenied while a pod ends when its
	// replacement is not let through. parked are all waits, asked those
	// whose question is under way, by ticket; tickets is the last one given.
	gated       bool
	updatesOnly bool
	stopDenied  atomic.Bool

	// filtered is true where a filter is asked, offered are the slots whose
	// question to it is under way, by ticket.
	filtered bool
	offered  map[uint64]*slot

	parked  map[*wait]bool
	asked   map[uint64]*wait
	tickets uint64
	retries retries

	// contests are the identities that documents of several sources claim,
	// disputed those whose question is under way, by ticket. resolves is true
	// where a resolver is asked, kept are its answers from before a restart.
	contests map[types.NamespacedName]*contest
	disputed map[uint64]*contest
	kept     map[types.NamespacedName]state.Resolution
	resolves bool
	// precedence is a list of sources, nil for none.
	precedence []string
	// sends counts the pods that were ever sent.
	sends uint64

	seals *seals
}

// sourceStore is one source's part of the store.
type sourceStore struct {
	Source
	// index counts the sources as configured, from 0.
	index    int
	seen     bool
	lastRead time.Time
	health   error
	// lines bounds what is logged of the documents.
	lines lines
	// ignored is what its directory holds that is not read, nil for nothing.
	ignored *api.Ignored
	entries map[string]*entry
	// manifests are the IDs of the entries of each manifest.
	manifests map[string][]string
	slots     map[types.NamespacedName]*slot
	// claims are the IDs of the bad documents that would be a pod of this
	// identity.
	claims map[types.NamespacedName][]string
}

// entry is one document, with the last valid version of the pod that it is.
type entry struct {
	reading
	// pod is the last valid version, nil if there never was one.
	pod *v1.Pod
	// podVersion is the version pod was read from.
	podVersion string
	// firstSeen is when there first was such a document.
	firstSeen time.Time
	// slot is the identity pod belongs to, nil with pod.
	slot *slot
	// restored: pod is from the disk and its source has not spoken yet.
	restored bool
	// suppressed is what the disk had of how long pod was held back, until that
	// is taken up.
	suppressed *state.Suppressed
}

// reading is what was read last of a document.
type reading struct {
	id string
	// version is that of the document, good or bad.
	version string
	// fault is set while it cannot be used, since then, and claims is the
	// identity it would have, zero where that is not known.
	fault  *api.DocumentError
	since  time.Time
	claims types.NamespacedName
}

// slot is one identity within one source. Of its entries one is first; it is
// chosen to run unless a contest has it otherwise. sent is the version that
// the sync loop has.
type slot struct {
	source   *sourceStore
	identity types.NamespacedName
	// entries are ordered by ID.
	entries []*entry
	first   *entry
	chosen  *entry
	sent    *sent
	// contest is set where another source claims the identity, too, and it
	// matters; stance says what follows.
	contest *contest
	stance  stance
	// heir is the document that has left the slot and whose record says that
	// sent was decided; nil where none has.
	heir *entry
	// was is the denied pod that the sync loop had last, and since when it was known;
	// zero for none.
	was struct {
		uid   types.UID
		known time.Time
	}
	// follows is the pod that ran in place of the chosen one while that was
	// outranked, until it is sent.
	follows types.UID
	// clash says why the chosen pod cannot be sent, empty if it can; refused is
	// the UID that it cannot have.
	clash   string
	refused types.UID
	// wait is set while the chosen version needs a verdict, or an answer of the
	// filter. successor is the wait of another slot, until whose version passes
	// sent is kept.
	wait, successor *wait
	// held is set while a filter has a say in what waits.
	held *suppression
	// rejudge: what was denied is to be judged again, once something may be chosen.
	rejudge bool
}

// sent is a pod the sync loop has.
type sent struct {
	// pod is as its source gave it, final as the sync loop has it: the same
	// where policies have changed nothing of it.
	pod, final *v1.Pod
	// seq numbers the pods in the order they were first sent.
	seq      uint64
	origin   api.Origin
	restored bool
	// known is since when there is a pod of this UID, for display.
	known time.Time
	// after is the pod whose place it takes, empty for none.
	after types.UID
	// verdict is what policy said of it, nil if it was not asked. instance is what
	// it was asked about, empty if that was before a restart.
	verdict  *api.Verdict
	instance string
	// base is FinalHash of what a contest's answer had made of it before that,
	// empty for nothing; only of a rejected pod.
	base string
}

// denied reports whether the pod was handed on as rejected: it does not run.
func (s *sent) denied() bool { return s.verdict != nil && s.verdict.Answer == api.Deny }

// runs reports whether the sync loop has a pod of the slot that was admitted.
func (sl *slot) runs() bool { return sl.sent != nil && !sl.sent.denied() }

// verdict is the verdict with which the slot's version passes, nil if it needs
// none.
func (sl *slot) verdict() *api.Verdict {
	if sl.wait == nil {
		return nil
	}
	return sl.wait.verdict
}

// knownSince is since when there is a pod of the slot with this UID, at the latest at.
func (sl *slot) knownSince(uid types.UID, at time.Time) time.Time {
	earlier := func(known time.Time) {
		if !known.IsZero() && known.Before(at) {
			at = known
		}
	}
	if sl.sent != nil && sl.sent.pod.UID == uid {
		earlier(sl.sent.known)
	}
	if sl.wait != nil && sl.wait.pod.UID == uid {
		earlier(sl.wait.known)
	}
	if sl.was.uid == uid {
		earlier(sl.was.known)
	}
	return at
}

func newStore(sources []Source) *store {
	s := &store{
		sources: make(map[string]*sourceStore, len(sources)),
		owner:   map[types.UID]*slot{},
		claims:  map[types.UID][]*slot{},
		refused: map[types.UID][]*slot{},
		parked:  map[*wait]bool{},
		asked:   map[uint64]*wait{},
		offered: map[uint64]*slot{},
		seals:   newSeals(),

		contests: map[types.NamespacedName]*contest{},
		disputed: map[uint64]*contest{},
		kept:     map[types.NamespacedName]state.Resolution{},
	}
	for i, src := range sources {
		s.sources[src.Name] = &sourceStore{
			Source:    src,
			index:     i,
			entries:   map[string]*entry{},
			manifests: map[string][]string{},
			slots:     map[types.NamespacedName]*slot{},
			claims:    map[types.NamespacedName][]string{},
		}
		s.ordered = append(s.ordered, s.sources[src.Name])
	}
	slices.SortFunc(s.ordered, func(a, b *sourceStore) int { return strings.Compare(a.Name, b.Name) })
	return s
}

// entry returns the entry of an ID, and makes it if there is none.
func (s *sourceStore) entry(id string) *entry {
	e := s.entries[id]
	if e == nil {
		e = &entry{reading: reading{id: id}}
		s.entries[id] = e
		if path, ok := api.ManifestOf(id); ok {
			s.manifests[path] = append(s.manifests[path], id)
		}
	}
	return e
}

// remove forgets the entry of an ID.
func (s *sourceStore) remove(id string) {
	delete(s.entries, id)
	path, ok := api.ManifestOf(id)
	if !ok {
		return
	}
	others := slices.DeleteFunc(s.manifests[path], func(have string) bool { return have == id })
	if s.manifests[path] = others; len(others) == 0 {
		delete(s.manifests, path)
	}
}

// place moves e to the slot of p's identity.
func (s *sourceStore) place(e *entry, p *v1.Pod) (left, entered *slot) {
	id := pod.Identity(p)
	if e.slot != nil && e.slot.identity == id {
		return nil, e.slot
	}
	left = s.displace(e)
	sl := s.slot(id)
	sl.insert(e)
	return left, sl
}

func (sl *slot) insert(e *entry) {
	at, _ := slices.BinarySearchFunc(sl.entries, e.id, func(have *entry, id string) int {
		return strings.Compare(have.id, id)
	})
	sl.entries = slices.Insert(sl.entries, at, e)
	e.slot = sl
}

// slot returns the slot of an identity, and makes it if there is none.
func (s *sourceStore) slot(id types.NamespacedName) *slot {
	sl := s.slots[id]
	if sl == nil {
		sl = &slot{source: s, identity: id}
		s.slots[id] = sl
	}
	return sl
}

// displace takes e out of its slot and returns the slot, nil if it had none.
func (s *sourceStore) displace(e *entry) *slot {
	sl := e.slot
	if sl == nil {
		return nil
	}
	sl.entries = slices.DeleteFunc(sl.entries, func(have *entry) bool { return have == e })
	e.slot = nil
	return sl
}

// choose decides which entry of the slot comes first: the one already known,
// else one with the UID the sync loop has (a renamed file), else the first by
// ID.
func (sl *slot) choose() {
	if sl.first != nil && sl.first.slot == sl {
		return
	}
	sl.first = nil
	for _, e := range sl.entries {
		if sl.sent != nil && e.pod.UID == sl.sent.pod.UID {
			sl.first = e
			return
		}
	}
	if len(sl.entries) > 0 {
		sl.first = sl.entries[0]
	}
}
