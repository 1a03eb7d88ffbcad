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

// store is the state of the mux: the documents of each source, and for each identity of a source
// the one pod that is to run.
type store struct {
	sources map[string]*sourceStore
	// ordered are the sources by name.
	ordered []*sourceStore
	// owner is the slot of each UID that the sync loop has. claims are the slots that wait with a
	// UID, in the order in which they began to wait: the UID belongs to the first of them.
	owner  map[types.UID]*slot
	claims map[types.UID][]*slot
	// refused are slots whose pod has a UID that another slot owns, by UID, in the order in which
	// they were refused.
	refused map[types.UID][]*slot

	// gated: a gate is asked. updatesOnly: the gate is asked only about newer versions of pods that
	// run. stopDenied: a pod is stopped if its replacement is not admitted.
	gated       bool
	updatesOnly bool
	stopDenied  atomic.Bool

	// filtered: a filter is asked. filterAsked are the slots with a question to the filter under
	// way, by ticket. filterTickets is the last ticket that was issued.
	filtered      bool
	filterAsked   map[uint64]*slot
	filterTickets uint64

	pending pending.Queue[*pendingVersion]

	conflicts *conflict.Table
	// sends is the number of pods that were ever sent.
	sends uint64

	immutability *immutability
}

// sourceStore is one source's part of the store.
type sourceStore struct {
	Source
	seen     bool
	lastRead time.Time
	health   error
	// logLimit limits the log lines about the source's documents.
	logLimit logLimit
	// ignored describes the files of its directory that are not read, nil for none.
	ignored *api.Ignored
	docs    *documents.Set
	slots   map[types.NamespacedName]*slot
}

// slot is one identity within one source. first is the document that is used of this identity.
// chosen is the document that should run: first, unless a conflict is decided otherwise. sent is
// the version that the sync loop has.
type slot struct {
	source   *sourceStore
	identity types.NamespacedName
	first    *documents.Entry
	chosen   *documents.Entry
	sent     *sent
	// ruling is set if another source claims the identity, too, and the conflict affects this slot.
	// role is what the slot may run under that ruling.
	ruling *ruling
	role   role
	// lastDenied is the denied pod that the sync loop had last, and the time since when it was
	// known; zero for none.
	lastDenied struct {
		uid   types.UID
		known time.Time
	}
	// after is the pod that ran in place of the chosen one while the slot was a loser. It is set
	// until the chosen pod is sent.
	after types.UID
	// clash is the reason why the chosen pod cannot be sent, empty if it can be sent. refused is
	// the UID that the pod cannot have.
	clash   string
	refused types.UID
	// pending is set while the chosen version needs a verdict, or an answer of the filter.
	// successor is a pending version of another slot that replaces this slot's pod: until that
	// version passes, sent is kept.
	pending, successor *pendingVersion
	// hold is set while a filter may hold back the pending version.
	hold *hold.Hold
	// rejudge: the denied pod is to be judged again as soon as the slot may run a document.
	rejudge bool
}

// sent is a pod that the sync loop has.
type sent struct {
	// pod is the source's version, mutated the version that the sync loop has. Both are the same
	// pointer if policies have changed nothing.
	pod, mutated *v1.Pod
	// seq numbers the pods in the order they were first sent.
	seq      uint64
	origin   api.Origin
	restored bool
	// known is the time since when there is a pod of this UID, for display.
	known time.Time
	// after is the UID of the pod that this one replaces, empty for none.
	after types.UID
	// verdict is the verdict of policy, nil if policy was not asked. instance is the instance that
	// was judged, empty if that was before a restart.
	verdict  *api.Verdict
	instance string
	// base is the hash of the mutation by a conflict's resolution that was applied before the pod
	// was judged, empty for none. It is set only for a rejected pod.
	base string
}

// denied reports whether the pod was sent to the sync loop as rejected: it does not run.
func (s *sent) denied() bool { return s.verdict != nil && s.verdict.Answer == api.Deny }

// runs reports whether the sync loop has a pod of the slot that was admitted.
func (sl *slot) runs() bool { return sl.sent != nil && !sl.sent.denied() }

// verdict returns the verdict of the slot's pending version, nil if there is none.
func (sl *slot) verdict() *api.Verdict {
	if sl.pending == nil {
		return nil
	}
	return sl.pending.verdict
}

// knownSince returns the time since when there is a pod of the slot with this UID, at the latest
// at.
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

// slot returns the slot of an identity, and creates it if there is none.
func (s *sourceStore) slot(id types.NamespacedName) *slot {
	sl := s.slots[id]
	if sl == nil {
		sl = &slot{source: s, identity: id}
		s.slots[id] = sl
	}
	return sl
}

// choose sets the document of the slot that is used. If it changes, the records of all documents of
// the identity are written again.
func (t *txn) choose(sl *slot) {
	first := sl.source.docs.First(sl.identity)
	if first != sl.first {
		sl.first = first
		t.changed = append(t.changed, sl.source.docs.Of(sl.identity)...)
	}
}

// slotOf returns the slot of a document, nil if the document no longer exists.
func (s *store) slotOf(e *documents.Entry) *slot {
	src := s.sources[e.Source]
	if src == nil || !src.docs.Has(e) {
		return nil
	}
	return src.slots[e.Identity]
}
