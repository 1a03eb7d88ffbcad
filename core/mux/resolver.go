package mux

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/state"
)

// Resolver decides who may run where documents of several sources claim one
// identity. Without one, and where it has no choice, Config.Precedence does.
type Resolver interface {
	// Resolve takes a contest and returns at once. answer is called once, by
	// any goroutine and at any time, or never if the resolver stops first. It
	// does not block. A winner that is no candidate counts as NoChoice, and so
	// does one with a mutation of another pod. Mutations count only with a Gate.
	Resolve(c api.Contest, answer func(api.Resolution))
	// Changed has a value when other policies are in force than before: every
	// contest is then asked again.
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

// contention is a question about a contest, on its way to the resolver.
type contention struct {
	ticket uint64
	api.Contest
}

// resolved takes resolutions in. One whose question was asked again, or is
// not of interest any more, is passed over.
func (s *store) resolved(given []answer[api.Resolution], t *merging) outcome {
	for _, a := range given {
		c := s.disputed[a.ticket]
		if c == nil {
			continue
		}
		delete(s.disputed, a.ticket)
		delete(s.kept, c.identity)
		c.ticket, c.resolution = 0, c.settle(a.value)
		t.answered = append(t.answered, c)
		t.touch(c.rivals[0])
	}
	return t.finish(outcome{changes: t.changes()})
}

// settle makes an answer one that says the same whatever runs later.
func (c *contest) settle(r api.Resolution) *api.Resolution {
	if r.Choice != api.ChooseWinner {
		r.Mutation = nil
	}
	switch current := slices.IndexFunc(c.rivals, (*slot).runs); {
	case r.Choice == api.ChooseCurrent && current >= 0:
		r.Choice, r.Winner = api.ChooseWinner, current
	case r.Choice == api.ChooseCurrent, r.Choice == api.ChooseWinner && !c.names(&r):
		r.Choice, r.Winner, r.Mutation = api.NoChoice, 0, nil
	}
	return &r
}

// names reports whether the winner of an answer is one of the contest, and what
// the answer makes of it is that pod.
func (c *contest) names(r *api.Resolution) bool {
	if r.Winner < 0 || r.Winner >= len(c.rivals) {
		return false
	}
	return r.Mutation == nil || r.Mutation.Usable(c.rivals[r.Winner].first.pod) == nil
}

// askContests puts every contest to the resolver again. The last answer holds until the
// new one comes, but is removed from the disk: with it, the mux would not ask again after
// a restart. Answers from before a restart to contests that have not come up yet no longer
// count.
func (t *merging) askContests() {
	for identity, kept := range t.store.kept {
		kept.Key = ""
		t.store.kept[identity] = kept
		t.ended = append(t.ended, identity)
	}
	for _, c := range t.store.orderedContests() {
		t.dispute(c)
		t.ended = append(t.ended, c.identity)
	}
}

// dispute puts the question to the resolver, once all else is done. An answer
// to an earlier one does not count any more.
func (t *merging) dispute(c *contest) {
	t.store.tickets++
	delete(t.store.disputed, c.ticket)
	c.ticket = t.store.tickets
	t.store.disputed[c.ticket] = c
	t.contentions = append(t.contentions, contention{c.ticket, c.question()})
}

// forgetKept drops, once every source has spoken, the answers from before a
// restart to what is no longer contested.
func (t *merging) forgetKept() {
	for _, src := range t.store.ordered {
		if !src.seen {
			return
		}
	}
	for identity := range t.store.kept {
		if t.store.contests[identity] == nil {
			t.ended = append(t.ended, identity)
		}
	}
	clear(t.store.kept)
}

// keepResolutions brings the disk to where the store is. A disk that does not
// take an answer is no reason to do without it: the resolver returns it again
// after a restart.
func (m *Mux) keepResolutions(out *outcome) {
	for i := range out.resolutions {
		r := &out.resolutions[i]
		if err := m.resolutions.Put(r); err != nil {
			m.log.Error("the answer to a conflict was not written; after a restart it is asked for again", "identity", r.Identity, "err", err)
		}
	}
	for _, identity := range out.ended {
		if err := m.resolutions.Delete(identity); err != nil {
			m.log.Error("the answer to a conflict that has ended was not removed", "identity", identity, "err", err)
		}
	}
}

// noResolutions stands in where nothing keeps them.
type noResolutions struct{}

func (noResolutions) Put(*state.Resolution) error         { return nil }
func (noResolutions) Delete(types.NamespacedName) error   { return nil }
func (noResolutions) Load() ([]state.Resolution, []error) { return nil, nil }
