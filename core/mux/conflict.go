package mux

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux/conflict"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// ruling is a conflict of several sources, with the slots of its claimants, ordered by the names of
// their sources. winner is the claimant that runs, nil for none.
type ruling struct {
	*conflict.Contest
	claimants []*slot
	winner    *slot
}

// role says what a slot may run in a conflict.
type role int

const (
	// roleSole: the slot runs its first document.
	roleSole role = iota
	// roleLoser: the slot runs nothing. Its running pod is replaced by the winner's.
	roleLoser
	// rolePending: no pod of the slot starts or terminates.
	rolePending
)

// claimants returns the slots of an identity that have a document which may run, ordered by the
// names of their sources. Mirror pods claim nothing: they only represent static pods.
func (s *store) claimants(identity types.NamespacedName) []*slot {
	var rivals []*slot
	for _, src := range s.ordered {
		if sl := src.claimant(identity); sl != nil {
			rivals = append(rivals, sl)
		}
	}
	return rivals
}

// claimant returns the slot of the source's document that claims an identity, nil if there is none.
func (src *sourceStore) claimant(identity types.NamespacedName) *slot {
	if sl := src.slots[identity]; sl != nil && sl.first != nil && !pod.IsMirror(sl.first.Pod) {
		return sl
	}
	return nil
}

// resolveConflicts sets the chosen document of each slot of a batch. The batch has all slots of an
// identity or none.
func (t *txn) resolveConflicts(batch []*slot) {
	behind := map[*slot]*slot{}
	for _, sl := range batch {
		if sl.role == roleLoser {
			behind[sl] = sl.ruling.winner
		}
		sl.chosen, sl.role, sl.ruling = sl.first, roleSole, nil
	}
	if len(t.store.ordered) < 2 {
		return
	}
	met := map[types.NamespacedName]bool{}
	for _, sl := range batch {
		if !met[sl.identity] {
			met[sl.identity] = true
			t.resolveConflict(sl.identity)
		}
	}
	for sl, winner := range behind {
		if sl.chosen != nil && !sl.isSent() && winner != sl && winner.sent != nil {
			sl.after = winner.sent.pod.UID
		}
	}
}

// resolveConflict decides the conflict about an identity and sets the roles of its slots.
func (t *txn) resolveConflict(identity types.NamespacedName) {
	before := t.store.conflicts.Contest(identity)
	decided := t.store.conflicts.Decide(identity, t.now)
	switch {
	case decided == nil && before != nil:
		t.log.Info("documents of several sources no longer claim one pod", "pod", identity)
	case decided != nil:
		c := &ruling{Contest: decided, claimants: t.store.claimants(identity)}
		if before == nil {
			t.log.Warn("documents of several sources claim one pod", "pod", identity, "sources", sourcesOf(c.claimants))
		}
		c.assignRoles()
	}
}

// assignRoles sets the role of each claimant.
func (c *ruling) assignRoles() {
	switch {
	case c.Stopped:
		c.holdAll()
	case c.Winner != conflict.NoWinner:
		c.winner = c.claimants[c.Winner]
		c.assignLosers()
	}
}

// holdAll lets no claimant start or terminate a pod. A newer version of the same running pod may go
// on; while the conflict is undecided it waits for the resolution. A denied pod stays denied,
// because it must not start even if it were admitted.
func (c *ruling) holdAll() {
	for _, sl := range c.claimants {
		if sl.ruling = c; !sl.runs() || sl.sent.pod.UID != sl.first.Pod.UID {
			sl.chosen, sl.role = nil, rolePending
		}
	}
}

// rejection returns the answer to the slot's conflict if the answer is that no claimant may run,
// else nil.
func (sl *slot) rejection() *api.Resolution {
	if c := sl.ruling; c != nil && c.Resolution != nil && c.Resolution.Choice == api.ChooseNone {
		return c.Resolution
	}
	return nil
}

// requeueEvicted judges a static pod again that was evicted because no claimant of its conflict
// might run, once the slot may run it again. It also judges a denied pod again whose new judgement
// had to wait for that (rejudge).
func (t *txn) requeueEvicted(sl *slot) {
	if v := sl.sent.verdict; sl.pending == nil && v != nil && (sl.rejudge || v.Reason == api.ReasonConflictRejected) && pod.IsStatic(sl.sent.pod) {
		t.enqueue(sl, api.Add, true, nil)
	}
}

// runningLoser returns the slot of another source whose pod runs until the pod of sl, the winner of
// the conflict, may replace it; nil for none.
func (sl *slot) runningLoser() *slot {
	if sl.ruling == nil || sl.ruling.winner != sl || sl.runs() {
		return nil
	}
	for _, rival := range sl.ruling.claimants {
		if rival != sl && rival.runs() {
			return rival
		}
	}
	return nil
}

// assignLosers makes the other claimants losers.
func (c *ruling) assignLosers() {
	for _, sl := range c.claimants {
		sl.ruling = c
		if sl == c.winner {
			continue
		}
		sl.chosen, sl.role = nil, roleLoser
	}
}

// mayEnd reports whether the pod of a slot without a chosen document may be removed from the sync
// loop.
func (sl *slot) mayEnd(free map[*slot]bool) bool {
	switch sl.role {
	case rolePending:
		return false
	case roleLoser:
		return sl.ruling.winner.admitted(free)
	}
	return true
}

// admitted reports whether a version of the slot runs under the slot's identity, or may run from
// now on.
func (sl *slot) admitted(free map[*slot]bool) bool {
	return sl.runsAsIdentity() || free[sl] && (sl.sent == nil || sl.runs()) && (sl.pending == nil || sl.pending.verdict == nil || sl.pending.verdict.Answer == api.Allow)
}

// runsAsIdentity reports whether the slot's running pod was admitted under the slot's identity. A
// pod's identity can change through its annotation alone.
func (sl *slot) runsAsIdentity() bool { return sl.runs() && pod.Identity(sl.sent.pod) == sl.identity }

// isSent reports whether the sync loop has the slot's chosen pod.
func (sl *slot) isSent() bool {
	return sl.sent != nil && sl.chosen != nil && sl.sent.pod.UID == sl.chosen.Pod.UID
}

// candidates returns the documents that claim an identity, for the conflict table; nil if there are
// fewer than two.
func (s *store) candidates(identity types.NamespacedName) (all []api.Candidate) {
	count := 0
	for _, src := range s.ordered {
		if src.claimant(identity) != nil {
			count++
		}
	}
	if count < 2 {
		return nil
	}
	for _, sl := range s.claimants(identity) {
		claimant := api.Candidate{Pod: sl.first.Pod, Origin: origin(sl, sl.first, sl.first.FirstSeen), Restored: sl.first.Restored}
		if sl.runs() {
			claimant.Running, claimant.Origin.FirstSeen = sl.sent.mutated, sl.sent.origin.FirstSeen
		}
		all = append(all, claimant)
	}
	return all
}

func sourcesOf(slots []*slot) []string {
	names := make([]string, len(slots))
	for i, sl := range slots {
		names[i] = sl.source.Name
	}
	return names
}

// Resolver decides which document may run if documents of several sources claim one identity.
// Without a Resolver, or if it makes no choice, Config.Precedence decides.
type Resolver interface {
	// Resolve takes a conflict and returns at once. The resolver calls answer once, from any
	// goroutine and at any time, or never if the resolver stops first. answer does not block. An
	// answer is treated as NoChoice if its winner is not a candidate or its mutation is for another
	// pod. Mutations have an effect only with a Gate.
	Resolve(c api.Contest, answer func(api.Resolution))
	// Changed has a value when other policies are in force than before. All conflicts are then
	// resolved again.
	Changed() <-chan struct{}
}

// Resolutions stores the answers of a Resolver over restarts; state.Resolutions implements it.
type Resolutions interface {
	// Put stores an answer. The answer is durable when Put returns.
	Put(r *state.Resolution) error
	// Delete removes the answer for an identity. A missing answer is no error.
	Delete(identity types.NamespacedName) error
	// Load returns all stored answers, and the errors of those that could not be read.
	Load() ([]state.Resolution, []error)
}

// resolved records answers of the resolver.
func (s *store) resolved(given []answer[api.Resolution], t *txn) outcome {
	for _, a := range given {
		if c := s.conflicts.Answer(a.ticket, a.value); c != nil {
			t.markDirty(s.claimants(c.Identity)[0])
		}
	}
	return t.finish(outcome{changes: t.changes()})
}

// forgetAnswers drops the answers from before a restart to conflicts that have ended, once every
// source has delivered.
func (t *txn) forgetAnswers() {
	for _, src := range t.store.ordered {
		if !src.seen {
			return
		}
	}
	t.store.conflicts.Forget()
}

// keepResolutions writes the changed answers to the disk. An answer that cannot be written is used
// nevertheless: after a restart the resolver is asked again.
func (m *Mux) keepResolutions(out *outcome) {
	for i := range out.conflicts.Keep {
		r := &out.conflicts.Keep[i]
		if err := m.resolutions.Put(r); err != nil {
			m.log.Error("the resolution of a conflict is not saved; after a restart the policy decides again", "identity", r.Identity, "err", err)
		}
	}
	for _, identity := range out.conflicts.Drop {
		if err := m.resolutions.Delete(identity); err != nil {
			m.log.Error("the resolution of a conflict that has ended was not removed", "identity", identity, "err", err)
		}
	}
}

// noResolutions is a Resolutions that stores nothing.
type noResolutions struct{}

func (noResolutions) Put(*state.Resolution) error         { return nil }
func (noResolutions) Delete(types.NamespacedName) error   { return nil }
func (noResolutions) Load() ([]state.Resolution, []error) { return nil, nil }
