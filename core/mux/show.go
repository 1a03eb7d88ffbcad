package mux

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux/documents"
	"github.com/wardlet/wardlet/core/pod"
)

// Suppressed returns the updates that a filter holds back, or has not answered, ordered by
// namespace, name and UID.
func (m *Mux) Suppressed() []api.WaitingUpdate {
	m.mu.RLock()
	defer m.mu.RUnlock()
	all := []api.WaitingUpdate{}
	for _, w := range m.store.pending.All() {
		if h := w.hold(); h != nil && !h.IsPassing() {
			all = append(all, w.update())
		}
	}
	slices.SortFunc(all, func(a, b api.WaitingUpdate) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
	return all
}

// update returns a wait that a filter holds back in the form of "get updates".
func (w *pendingVersion) update() api.WaitingUpdate {
	q := w.filterQuestion()
	u := api.WaitingUpdate{
		Namespace: w.pod.Namespace, Name: w.pod.Name, UID: w.pod.UID, Op: q.Op, Replaces: q.Replaces,
		Source: q.Origin.Source, Document: q.Origin.Document, Version: q.Origin.Version,
	}
	w.hold().Show(&u)
	return u
}

// Conflicts returns every identity that more than one document claims, in one source or in several,
// ordered by namespace and name.
func (m *Mux) Conflicts() []api.Conflict {
	m.mu.RLock()
	defer m.mu.RUnlock()
	all := []api.Conflict{}
	met := map[types.NamespacedName]bool{}
	for _, src := range m.store.ordered {
		for identity := range src.slots {
			contested := m.store.conflicts.Contest(identity) != nil
			if met[identity] || !contested && len(src.docs.Of(identity)) < 2 {
				continue
			}
			met[identity] = true
			all = append(all, m.store.conflict(identity))
		}
	}
	slices.SortFunc(all, func(a, b api.Conflict) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return all
}

func (s *store) conflict(identity types.NamespacedName) api.Conflict {
	c := api.Conflict{Namespace: identity.Namespace, Name: identity.Name, Rule: api.RuleIsolate, Claims: []api.Claim{}}
	contest := s.conflicts.Contest(identity)
	if contest != nil {
		c.Rule, c.Since = contest.Rule, contest.Since
		if r := contest.Resolution; r != nil {
			c.Message = r.Message
			if r.Policy != "" {
				c.Message = r.Policy + ": " + r.Message
			}
			if r.Mutation != nil {
				c.Message = strings.TrimPrefix(c.Message+"; "+r.Mutation.String(), "; ")
			}
		}
	} else if !s.conflicts.Isolates() {
		c.Rule = api.RulePrecedence
	}
	for _, src := range s.ordered {
		sl := src.slots[identity]
		if sl == nil {
			continue
		}
		entries := src.docs.Of(identity)
		for _, e := range entries {
			if contest == nil && len(entries) < 2 || pod.IsMirror(e.Pod) {
				continue
			}
			if c.Since.IsZero() || e.FirstSeen.After(c.Since) && contest == nil {
				c.Since = e.FirstSeen
			}
			c.Claims = append(c.Claims, sl.claim(e))
			if last := &c.Claims[len(c.Claims)-1]; last.State == api.ClaimRuns {
				if before := s.before(sl); before != nil {
					last.State = api.ClaimWaits
					last.Message = "starts when " + before.sent.pod.Name + " of source " + before.source.Name + " has ended"
				}
			}
		}
	}
	return c
}

// before returns the claimant whose pod must terminate before the pod of sl starts. Static pods
// with the same full name run one after the other, in the order in which they were first sent.
func (s *store) before(sl *slot) *slot {
	if !pod.IsStatic(sl.sent.pod) {
		return nil
	}
	for _, rival := range s.claimants(sl.identity) {
		if rival != sl && rival.runs() && pod.IsStatic(rival.sent.pod) &&
			pod.FullName(rival.sent.pod) == pod.FullName(sl.sent.pod) && rival.sent.seq < sl.sent.seq {
			return rival
		}
	}
	return nil
}

// claim returns the state of an entry of the slot.
func (sl *slot) claim(e *documents.Entry) api.Claim {
	c := api.Claim{Source: sl.source.Name, Document: e.ID, Pod: e.Pod.Name, UID: e.Pod.UID, State: api.ClaimLost}
	if e != sl.first {
		c.Message = "the source names it in " + sl.first.ID + ", too, which was first"
		return c
	}
	switch {
	case sl.role == roleLoser && sl.sent != nil:
		c.State, c.Message = api.ClaimGivesWay, "runs until "+sl.ruling.winner.first.ID+" is admitted"
	case sl.role == roleLoser:
		c.Message = sl.ruling.winner.first.ID + " of source " + sl.ruling.winner.source.Name + " has precedence"
	case sl.role == rolePending && sl.sent != nil:
		c.State, c.Message = api.ClaimWaits, "an earlier version runs on"
	case sl.role == rolePending:
		c.State, c.Message = api.ClaimWaits, "nothing new starts until it is decided who may"
	case sl.clash != "":
		c.Message = sl.clash
	case sl.pending != nil:
		c.State, c.Message = api.ClaimWaits, "not judged yet"
		if v := sl.pending.verdict; v != nil {
			c.Message = v.Message
		}
		if sl.pending.hold() != nil {
			c.Message = "a filter holds it back"
		}
	case sl.sent != nil && sl.sent.denied():
		c.State, c.Message = api.ClaimRefused, sl.sent.verdict.Message
	default:
		c.State = api.ClaimRuns
	}
	return c
}

// state returns the state of the source and its documents that cannot be used. running is
// Config.Running.
func (s *sourceStore) state(running func(types.UID) bool) api.SourceState {
	state := api.SourceState{
		Name: s.Name, Kind: s.Kind, Location: s.Location, Seen: s.seen, LastRead: s.lastRead,
		Documents: s.docs.Count(), Ignored: s.ignored,
	}
	if s.health != nil {
		state.Err = s.health.Error()
	}
	for _, p := range s.docs.Problems() {
		p.Running = p.Entry != nil && s.runs(p.Entry, running)
		state.Problems = append(state.Problems, p.Problem)
	}
	for _, sl := range s.slots {
		if e := sl.first; e != nil && sl.clash != "" && s.docs.Fault(e.ID) == nil {
			state.Problems = append(state.Problems, api.Problem{
				Document: e.ID, Message: e.ID + ": " + sl.clash, Since: e.FirstSeen, Namespace: sl.identity.Namespace, Name: sl.identity.Name,
				Kept: sl.sent != nil, Running: sl.sent != nil && running(sl.sent.pod.UID),
			})
		}
	}
	state.Bad = len(state.Problems)
	slices.SortFunc(state.Problems, func(a, b api.Problem) int { return api.CompareDocuments(a.Document, b.Document) })
	return state
}

// runs reports whether the last valid version of the document is the version that runs.
func (s *sourceStore) runs(e *documents.Entry, running func(types.UID) bool) bool {
	sl := s.slots[e.Identity]
	return sl != nil && sl.first == e && sl.runs() && sl.pending == nil && sl.sent.pod.UID == e.Pod.UID && running(e.Pod.UID)
}

// Asked returns the pod versions with a question under way to policy, a filter or the resolver of
// conflicts, in the order in which they began to wait.
func (m *Mux) Asked() []api.Waiting {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var all []api.Waiting
	for _, w := range m.store.pending.All() {
		asked := w.asked()
		if asked == nil {
			continue
		}
		x := api.Waiting{Pod: w.pod, Running: w.running(), Origin: w.origin()}
		if w.verdict != nil || w.hold() != nil {
			x = w.waiting()
		}
		x.Asked = asked
		all = append(all, x)
	}
	return all
}

// asked returns the question about the wait that is under way, nil for none.
func (w *pendingVersion) asked() *api.Asked {
	held := w.hold()
	asked, at := w.item.Asked()
	switch {
	case w.judged && w.awaitingMerge:
		return &api.Asked{Hook: api.HookMerge, Since: at}
	case asked:
		return &api.Asked{Hook: api.HookAdmit, Since: at}
	case held != nil:
		if ticket, at := held.Question(); ticket != 0 {
			return &api.Asked{Hook: api.HookFilter, Since: at}
		}
	}
	return nil
}
