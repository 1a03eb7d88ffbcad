package mux

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux/conflict"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// ruling is a conflict of several sources, with the slots of its claimants, ordered by
// their sources' names, and of these the one that runs; nil where none does.
type ruling struct {
	*conflict.Contest
	claimants []*slot
	winner    *slot
}

// role is what a conflict makes of a slot.
type role int

const (
	// roleSole: the slot runs its first document.
	roleSole role = iota
	// roleLoser: it runs nothing; what runs of it ends for the winner.
	roleLoser
	// rolePending: nothing of it begins or ends.
	rolePending
)

// claimants are the slots of an identity that have a document which may run,
// ordered by their sources' names. Mirror pods are bookkeeping and claim
// nothing.
func (s *store) claimants(identity types.NamespacedName) []*slot {
	var rivals []*slot
	for _, src := range s.ordered {
		if sl := src.slots[identity]; sl != nil && sl.first != nil && !pod.IsMirror(sl.first.Pod) {
			rivals = append(rivals, sl)
		}
	}
	return rivals
}

// resolveConflicts finds out for the slots of a batch what they should run. The batch
// has all slots of an identity or none.
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

// resolveConflict finds out for the slots of an identity what they should run.
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

// assignRoles sets what each claimant runs.
func (c *ruling) assignRoles() {
	switch {
	case c.Stopped:
		c.holdAll()
	case c.Winner != conflict.NoWinner:
		c.winner = c.claimants[c.Winner]
		c.assignLosers()
	}
}

// holdAll lets no claimant begin or end anything. A newer version of the very pod
// that runs goes on; while the answer is still to come it waits for that. One
// that was denied stays so: nothing that admits it could let it begin.
func (c *ruling) holdAll() {
	for _, sl := range c.claimants {
		if sl.ruling = c; !sl.runs() || sl.sent.pod.UID != sl.first.Pod.UID {
			sl.chosen, sl.role = nil, rolePending
		}
	}
}

// rejection is the answer to the conflict in which the slot's pod stands, where that
// is that none may run, else nil.
func (sl *slot) rejection() *api.Resolution {
	if c := sl.ruling; c != nil && c.Resolution != nil && c.Resolution.Choice == api.ChooseNone {
		return c.Resolution
	}
	return nil
}

// requeueEvicted has a pod of the node's own sources judged again that was evicted
// because none of its conflict might run, or was to be judged again meanwhile, once
// that is not so any more.
func (t *txn) requeueEvicted(sl *slot) {
	if v := sl.sent.verdict; sl.pending == nil && v != nil && (sl.rejudge || v.Reason == api.ReasonConflictRejected) && pod.IsStatic(sl.sent.pod) {
		t.enqueue(sl, api.Add, true, nil)
	}
}

// runningLoser is the slot of another source that runs until the pod of sl, which has won the
// conflict, may take its place; nil for none.
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

// mayEnd reports whether what the sync loop has of a slot that should run
// nothing may be taken from it.
func (sl *slot) mayEnd(free map[*slot]bool) bool {
	switch sl.role {
	case rolePending:
		return false
	case roleLoser:
		return sl.ruling.winner.admitted(free)
	}
	return true
}

// admitted reports whether a version of the slot runs as what that stands for,
// or may from now on.
func (sl *slot) admitted(free map[*slot]bool) bool {
	return sl.runsAsIdentity() || free[sl] && (sl.sent == nil || sl.runs()) && (sl.pending == nil || sl.pending.verdict == nil || sl.pending.verdict.Answer == api.Allow)
}

// runsAsIdentity reports whether what the sync loop has of the slot was admitted as what
// the slot stands for: a pod may have another identity by its annotation alone.
func (sl *slot) runsAsIdentity() bool { return sl.runs() && pod.Identity(sl.sent.pod) == sl.identity }

// isSent reports whether the sync loop has the slot's chosen pod.
func (sl *slot) isSent() bool {
	return sl.sent != nil && sl.chosen != nil && sl.sent.pod.UID == sl.chosen.Pod.UID
}

// candidates are the documents that claim an identity, for the table of conflicts.
func (s *store) candidates(identity types.NamespacedName) (all []api.Candidate) {
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

// Resolver decides who may run where documents of several sources claim one
// identity. Without one, and where it has no choice, Config.Precedence does.
type Resolver interface {
	// Resolve takes a conflict and returns at once. answer is called once, by
	// any goroutine and at any time, or never if the resolver stops first. It
	// does not block. A winner that is no candidate counts as NoChoice, and so
	// does one with a mutation of another pod. Mutations count only with a Gate.
	Resolve(c api.Contest, answer func(api.Resolution))
	// Changed has a value when other policies are in force than before: every
	// conflict is then asked again.
	Changed() <-chan struct{}
}

// Resolutions keeps the answers of a Resolver over restarts;
// state.Resolutions does.
type Resolutions interface {
	// Put is durable when it returns.
	Put(r *state.Resolution) error
	// Delete forgets the answer for an identity; one that is not there is no
	// error.
	Delete(identity types.NamespacedName) error
	// Load returns all that are kept, and what could not be read.
	Load() ([]state.Resolution, []error)
}

// resolved records resolutions.
func (s *store) resolved(given []answer[api.Resolution], t *txn) outcome {
	for _, a := range given {
		if c := s.conflicts.Answer(a.ticket, a.value); c != nil {
			t.markDirty(s.claimants(c.Identity)[0])
		}
	}
	return t.finish(outcome{changes: t.changes()})
}

// forgetAnswers drops, once every source has spoken, the answers from before a restart to
// what is no longer contested.
func (t *txn) forgetAnswers() {
	for _, src := range t.store.ordered {
		if !src.seen {
			return
		}
	}
	t.store.conflicts.Forget()
}

// keepResolutions brings the disk to where the store is. A disk that does not
// take an answer is no reason to do without it: the resolver returns it again
// after a restart.
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

// noResolutions stands in where nothing keeps them.
type noResolutions struct{}

func (noResolutions) Put(*state.Resolution) error         { return nil }
func (noResolutions) Delete(types.NamespacedName) error   { return nil }
func (noResolutions) Load() ([]state.Resolution, []error) { return nil, nil }
