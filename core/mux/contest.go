package mux

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// contest is an identity that documents of several sources claim.
type contest struct {
	identity types.NamespacedName
	since    time.Time
	// rivals are the slots that claim it, ordered by their sources' names.
	rivals []*slot
	// rule decided it. winner is the slot whose document runs; nil where each
	// runs, and where nothing may change.
	rule   string
	winner *slot
	// pending: the resolver has not answered yet.
	pending bool

	// key names the set of candidates that resolution is the answer for; nil
	// while there is none. ticket is the question under way, 0 for none.
	key        string
	resolution *api.Resolution
	ticket     uint64
}

// stance is what a contest makes of a slot.
type stance int

const (
	// unopposed: the slot runs its first document.
	unopposed stance = iota
	// outranked: it runs nothing; what runs of it gives way to the winner.
	outranked
	// undecided: nothing of it begins or ends.
	undecided
)

// rivals are the slots of an identity that have a document which may run,
// ordered by their sources' names. Mirror pods are bookkeeping and claim
// nothing.
func (s *store) rivals(identity types.NamespacedName) []*slot {
	var rivals []*slot
	for _, src := range s.ordered {
		if sl := src.slots[identity]; sl != nil && sl.first != nil && !pod.IsMirror(sl.first.pod) {
			rivals = append(rivals, sl)
		}
	}
	return rivals
}

// contend finds out for the slots of a batch what they should run. The batch
// has all slots of an identity or none.
func (t *merging) contend(batch []*slot) {
	behind := map[*slot]*slot{}
	for _, sl := range batch {
		if sl.stance == outranked {
			behind[sl] = sl.contest.winner
		}
		sl.chosen, sl.stance, sl.contest = sl.first, unopposed, nil
	}
	if len(t.store.ordered) < 2 {
		return
	}
	met := map[types.NamespacedName]bool{}
	for _, sl := range batch {
		if !met[sl.identity] {
			met[sl.identity] = true
			t.contest(sl.identity)
		}
	}
	for sl, winner := range behind {
		if sl.chosen != nil && !sl.has() && winner != sl && winner.sent != nil {
			sl.follows = winner.sent.pod.UID
		}
	}
}

// contest finds out for the slots of an identity what they should run.
func (t *merging) contest(identity types.NamespacedName) {
	rivals := t.store.rivals(identity)
	if len(rivals) < 2 {
		t.agree(identity)
		return
	}
	c := t.store.contests[identity]
	if c == nil {
		c = &contest{identity: identity, since: t.now}
		t.store.contests[identity] = c
		t.log.Warn("documents of several sources claim one pod", "pod", identity, "sources", sourcesOf(rivals))
	}
	c.rivals = rivals
	t.decide(c)
}

// agree ends the contest of an identity.
func (t *merging) agree(identity types.NamespacedName) {
	c := t.store.contests[identity]
	if c == nil {
		return
	}
	delete(t.store.contests, identity)
	delete(t.store.disputed, c.ticket)
	delete(t.store.kept, identity)
	if c.resolution != nil {
		t.ended = append(t.ended, identity)
	}
	t.log.Info("documents of several sources no longer claim one pod", "pod", identity)
}

// decide says what each rival runs.
func (t *merging) decide(c *contest) {
	c.winner = nil
	r := t.resolution(c)
	c.rule, c.pending = api.RulePolicy, r == nil
	switch {
	case r == nil || r.Choice == api.ChooseNone:
		c.hold()
		return
	case r.Choice == api.ChooseWinner && r.Winner < len(c.rivals):
		c.winner = c.rivals[r.Winner]
	case t.store.precedence != nil:
		c.rule, c.winner = api.RulePrecedence, slices.MinFunc(c.rivals, t.store.precede)
	default:
		c.rule = api.RuleIsolate
		return
	}
	t.outrank(c)
}

// resolution is the resolver's answer, nil where there is none yet.
func (t *merging) resolution(c *contest) *api.Resolution {
	if !t.store.resolves {
		return &api.Resolution{Choice: api.NoChoice}
	}
	if key := c.candidatesKey(); key != c.key {
		c.key, c.resolution = key, nil
		if kept, ok := t.store.kept[c.identity]; ok && kept.Key == key && (kept.Resolution.Choice != api.ChooseWinner || c.names(&kept.Resolution)) {
			c.resolution = &kept.Resolution
		} else {
			t.dispute(c)
		}
	}
	return c.resolution
}

// precede orders slots as the list of sources in agent.toml does; those it
// does not name come last.
func (s *store) precede(a, b *slot) int {
	return cmp.Compare(s.placeOf(a.source.Name), s.placeOf(b.source.Name))
}

func (s *store) placeOf(source string) int {
	if i := slices.Index(s.precedence, source); i >= 0 {
		return i
	}
	return len(s.precedence) + s.sources[source].index
}

// hold lets no rival begin or end anything. A newer version of the very pod
// that runs goes on; while the answer is still to come it waits for that. One
// that was denied stays so: nothing that admits it could let it begin.
func (c *contest) hold() {
	for _, sl := range c.rivals {
		if sl.contest = c; !sl.runs() || sl.sent.pod.UID != sl.first.pod.UID {
			sl.chosen, sl.stance = nil, undecided
		}
	}
}

// rejected is the answer to the contest in which the slot's pod stands, where that
// is that none may run, else nil.
func (sl *slot) rejected() *api.Resolution {
	if c := sl.contest; c != nil && c.resolution != nil && c.resolution.Choice == api.ChooseNone {
		return c.resolution
	}
	return nil
}

// reinstate has a pod of the node's own sources judged again that was evicted
// because none of its contest might run, or was to be judged again meanwhile, once
// that is not so any more.
func (t *merging) reinstate(sl *slot) {
	if v := sl.sent.verdict; sl.wait == nil && v != nil && (sl.rejudge || v.Reason == api.ReasonConflictRejected) && pod.IsStatic(sl.sent.pod) {
		t.park(sl, api.Add, true, nil)
	}
}

// outrank makes the winner's rivals give way.
func (t *merging) outrank(c *contest) {
	for _, sl := range c.rivals {
		sl.contest = c
		if sl == c.winner {
			continue
		}
		sl.chosen, sl.stance = nil, outranked
		if e := c.winner.first; sl.runs() && !c.winner.runs() && t.left[e] == nil {
			t.left[e] = sl
		}
	}
}

// mayLeave reports whether what the sync loop has of a slot that should run
// nothing may be taken from it.
func (sl *slot) mayLeave(free map[*slot]bool) bool {
	switch sl.stance {
	case undecided:
		return false
	case outranked:
		return sl.contest.winner.admitted(free)
	}
	return sl.successor == nil || free[sl.successor.slot]
}

// admitted reports whether a version of the slot runs as what that stands for,
// or may from now on.
func (sl *slot) admitted(free map[*slot]bool) bool {
	return sl.stands() || free[sl] && (sl.sent == nil || sl.runs()) && (sl.wait == nil || sl.wait.verdict == nil || sl.wait.verdict.Answer == api.Allow)
}

// stands reports whether what the sync loop has of the slot was admitted as what
// the slot stands for: a document may have moved there, with the pod that it was.
func (sl *slot) stands() bool { return sl.runs() && pod.Identity(sl.sent.pod) == sl.identity }

// has reports whether the sync loop has the slot's chosen pod.
func (sl *slot) has() bool {
	return sl.sent != nil && sl.chosen != nil && sl.sent.pod.UID == sl.chosen.pod.UID
}

// question is what a resolver is asked.
func (c *contest) question() api.Contest {
	q := api.Contest{Identity: c.identity}
	for _, sl := range c.rivals {
		candidate := api.Candidate{Pod: sl.first.pod, Origin: origin(sl, sl.first, sl.first.firstSeen), Restored: sl.first.restored}
		if sl.runs() {
			candidate.Running, candidate.Origin.FirstSeen = sl.sent.final, sl.sent.origin.FirstSeen
		}
		q.Candidates = append(q.Candidates, candidate)
	}
	return q
}

// candidatesKey names the set of candidates: their sources, documents and
// instances.
func (c *contest) candidatesKey() string {
	hash := sha256.New()
	for _, sl := range c.rivals {
		instance, err := pod.Instance(sl.first.pod)
		if err != nil {
			instance = sl.first.podVersion
		}
		for _, part := range []string{sl.source.Name, sl.first.id, instance} {
			fmt.Fprintf(hash, "%d:%s", len(part), part)
		}
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// keptResolution is what the disk keeps of a contest's answer.
func (c *contest) keptResolution() state.Resolution {
	return state.Resolution{Identity: c.identity, Key: c.key, Resolution: *c.resolution}
}

// orderedContests are all contests, ordered by identity.
func (s *store) orderedContests() []*contest {
	all := make([]*contest, 0, len(s.contests))
	for _, c := range s.contests {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *contest) int { return cmp.Compare(a.identity.String(), b.identity.String()) })
	return all
}

func sourcesOf(slots []*slot) []string {
	names := make([]string, len(slots))
	for i, sl := range slots {
		names[i] = sl.source.Name
	}
	return names
}
