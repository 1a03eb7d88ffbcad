package mux

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// Conflicts tells of every identity that more than one document claims, in one
// source or in several, ordered by namespace and name.
func (m *Mux) Conflicts() []api.Conflict {
	m.mu.RLock()
	defer m.mu.RUnlock()
	all := []api.Conflict{}
	met := map[types.NamespacedName]bool{}
	for _, src := range m.store.ordered {
		for identity, sl := range src.slots {
			contested := m.store.contests[identity] != nil
			if met[identity] || !contested && len(sl.entries) < 2 {
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
	contest := s.contests[identity]
	if contest != nil {
		c.Rule, c.Since = contest.rule, contest.since
		if r := contest.resolution; r != nil {
			c.Message = r.Message
			if r.Policy != "" {
				c.Message = r.Policy + ": " + r.Message
			}
			if r.Mutation != nil {
				c.Message = strings.TrimPrefix(c.Message+"; "+r.Mutation.String(), "; ")
			}
		}
	} else if s.precedence != nil {
		c.Rule = api.RulePrecedence
	}
	for _, src := range s.ordered {
		sl := src.slots[identity]
		if sl == nil {
			continue
		}
		for _, e := range sl.entries {
			if contest == nil && len(sl.entries) < 2 || pod.IsMirror(e.pod) {
				continue
			}
			if c.Since.IsZero() || e.firstSeen.After(c.Since) && contest == nil {
				c.Since = e.firstSeen
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

// before is the rival whose pod has to end before that of sl starts: static
// pods of one full name run one after the other, in the order they came.
func (s *store) before(sl *slot) *slot {
	if !pod.IsStatic(sl.sent.pod) {
		return nil
	}
	for _, rival := range s.rivals(sl.identity) {
		if rival != sl && rival.runs() && pod.IsStatic(rival.sent.pod) &&
			pod.FullName(rival.sent.pod) == pod.FullName(sl.sent.pod) && rival.sent.seq < sl.sent.seq {
			return rival
		}
	}
	return nil
}

// claim is what became of an entry of the slot.
func (sl *slot) claim(e *entry) api.Claim {
	c := api.Claim{Source: sl.source.Name, Document: e.id, Pod: e.pod.Name, UID: e.pod.UID, State: api.ClaimLost}
	if e != sl.first {
		c.Message = "the source names it in " + sl.first.id + ", too, which was first"
		return c
	}
	switch {
	case sl.stance == outranked && sl.sent != nil:
		c.State, c.Message = api.ClaimGivesWay, "runs until "+sl.contest.winner.first.id+" is admitted"
	case sl.stance == outranked:
		c.Message = sl.contest.winner.first.id + " of source " + sl.contest.winner.source.Name + " has precedence"
	case sl.stance == undecided && sl.sent != nil:
		c.State, c.Message = api.ClaimWaits, "an earlier version runs on"
	case sl.stance == undecided:
		c.State, c.Message = api.ClaimWaits, "nothing new starts until it is decided who may"
	case sl.clash != "":
		c.Message = sl.clash
	case sl.wait != nil:
		c.State, c.Message = api.ClaimWaits, "not judged yet"
		if v := sl.wait.verdict; v != nil {
			c.Message = v.Message
		}
		if sl.wait.suppressed() != nil {
			c.Message = "a filter holds it back"
		}
	case sl.sent != nil && sl.sent.denied():
		c.State, c.Message = api.ClaimRefused, sl.sent.verdict.Message
	default:
		c.State = api.ClaimRuns
	}
	return c
}
