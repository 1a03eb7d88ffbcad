package mux

import (
	"slices"
	"strings"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux/conflict"
	"github.com/wardlet/wardlet/core/mux/documents"
	"github.com/wardlet/wardlet/core/mux/hold"
	"github.com/wardlet/wardlet/core/mux/pending"
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
	// replacement is not let through.
	gated       bool
	updatesOnly bool
	stopDenied  atomic.Bool

	// filtered is true where a filter is asked, filterAsked are the slots whose
	// question to it is under way, by ticket; filterTickets is the last one given.
	filtered      bool
	filterAsked   map[uint64]*slot
	filterTickets uint64

	pending pending.Queue[*pendingVersion]

	conflicts *conflict.Table
	// sends counts the pods that were ever sent.
	sends uint64

	immutability *immutability
}

// sourceStore is one source's part of the store.
type sourceStore struct {
	Source
	seen     bool
	lastRead time.Time
	health   error
	// logLimit bounds what is logged of the documents.
	logLimit logLimit
	// ignored is what its directory holds that is not read, nil for nothing.
	ignored *api.Ignored
	docs    *documents.Set
	slots   map[types.NamespacedName]*slot
}

// slot is one identity within one source. Of its documents one is first; it is
// chosen to run unless a conflict has it otherwise. sent is the version that
// the sync loop has.
type slot struct {
	source   *sourceStore
	identity types.NamespacedName
	first    *documents.Entry
	chosen   *documents.Entry
	sent     *sent
	// ruling is set where another source claims the identity, too, and it
	// matters; role says what follows.
	ruling *ruling
	role   role
	// lastDenied is the denied pod that the sync loop had last, and since when it was known;
	// zero for none.
	lastDenied struct {
		uid   types.UID
		known time.Time
	}
	// after is the pod that ran in place of the chosen one while that was
	// a loser, until it is sent.
	after types.UID
	// clash says why the chosen pod cannot be sent, empty if it can; refused is
	// the UID that it cannot have.
	clash   string
	refused types.UID
	// pending is set while the chosen version needs a verdict, or an answer of the
	// filter. While successor is set, sent is kept until that version, of another slot,
	// passes.
	pending, successor *pendingVersion
	// hold is set while a filter has a say in what waits.
	hold *hold.Hold
	// rejudge: what was denied is to be judged again, once something may be chosen.
	rejudge bool
}

// sent is a pod the sync loop has.
type sent struct {
	// pod is as its source has it, mutated as the sync loop has it: the same
	// where policies have changed nothing of it.
	pod, mutated *v1.Pod
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
	// base is the hash of what a conflict's answer had made of it before that,
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
	if sl.pending == nil {
		return nil
	}
	return sl.pending.verdict
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
	if sl.pending != nil && sl.pending.pod.UID == uid {
		earlier(sl.pending.known)
	}
	if sl.lastDenied.uid == uid {
		earlier(sl.lastDenied.known)
	}
	return at
}

func newStore(c *Config) *store {
	s := &store{
		sources: make(map[string]*sourceStore, len(c.Sources)),
		owner:   map[types.UID]*slot{},
		claims:  map[types.UID][]*slot{},
		refused: map[types.UID][]*slot{},
		gated:   c.Gate != nil, updatesOnly: c.UpdatesOnly,
		filtered:     c.Filter != nil,
		filterAsked:  map[uint64]*slot{},
		immutability: newImmutability(),
	}
	s.stopDenied.Store(c.StopDenied)
	var names []string
	for _, src := range c.Sources {
		names = append(names, src.Name)
		s.sources[src.Name] = &sourceStore{
			Source: src,
			docs:   documents.NewSet(src.Name),
			slots:  map[types.NamespacedName]*slot{},
		}
		s.ordered = append(s.ordered, s.sources[src.Name])
	}
	s.conflicts = conflict.NewTable(conflict.Config{
		Sources: names, Resolves: c.Resolver != nil, Precedence: c.Precedence, Claimants: s.candidates,
	})
	slices.SortFunc(s.ordered, func(a, b *sourceStore) int { return strings.Compare(a.Name, b.Name) })
	return s
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

// choose sets which document of the slot comes first. If that is another one than before,
// the records of all say so.
func (t *txn) choose(sl *slot) {
	first := sl.source.docs.First(sl.identity)
	if first != sl.first {
		sl.first = first
		t.changed = append(t.changed, sl.source.docs.Of(sl.identity)...)
	}
}

// slotOf is the slot of a document, nil where it is not there any more.
func (s *store) slotOf(e *documents.Entry) *slot {
	src := s.sources[e.Source]
	if src == nil || !src.docs.Has(e) {
		return nil
	}
	return src.slots[e.Identity]
}
