package conflict

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

// NoWinner is the value of Contest.Winner if no claimant is preferred to the others.
const NoWinner = -1

// Config configures a Table.
type Config struct {
	// Sources are the names of all sources in the order of agent.toml.
	Sources []string
	// Resolves: a Resolver is asked. If false, or if the Resolver makes no choice, Precedence
	// decides.
	Resolves bool
	// Precedence is a list of sources. If several sources claim one identity, the first of them in
	// the list runs. Sources that are not in the list come last, in the order of Sources. Nil: each
	// source runs its own document.
	Precedence []string
	// Claimants returns the current claimants of an identity, ordered by the names of their
	// sources; nil if there are fewer than two.
	Claimants func(types.NamespacedName) []api.Candidate
}

// Table holds the contests.
type Table struct {
	config   Config
	contests map[types.NamespacedName]*Contest
	// asked are the contests with a question under way, by ticket. tickets is the last ticket that
	// was issued.
	asked   map[uint64]*Contest
	tickets uint64
	// restored are the answers from before a restart.
	restored map[types.NamespacedName]state.Resolution
	output   Output
	answered []*Contest
}

// Contest is an identity that documents of several sources claim.
type Contest struct {
	Identity types.NamespacedName
	Since    time.Time
	// Rule is the rule that decided: api.RuleIsolate, api.RulePrecedence or api.RulePolicy.
	Rule string
	// Winner is the index of the claimant that runs, NoWinner for none. With NoWinner each claimant
	// runs its own document, unless Stopped is set. Stopped: nothing may start or terminate.
	Winner  int
	Stopped bool
	// Pending: the Resolver has not answered yet.
	Pending bool
	// Resolution is the Resolver's answer, nil while there is none.
	Resolution *api.Resolution

	// key identifies the set of claimants to which Resolution applies. ticket is the question under
	// way, 0 for none.
	key    string
	ticket uint64
}

// Output is the result of calls of a Table.
type Output struct {
	Questions []Question
	// Keep are answers to store on the disk. Drop are the identities whose answer is to be removed.
	Keep []state.Resolution
	Drop []types.NamespacedName
}

// Question is a question for the Resolver. The caller passes its answer to Answer, with Ticket.
type Question struct {
	Ticket uint64
	api.Contest
}

// NewTable returns a table without contests.
func NewTable(c Config) *Table {
	return &Table{
		config: c, contests: map[types.NamespacedName]*Contest{}, asked: map[uint64]*Contest{}, restored: map[types.NamespacedName]state.Resolution{},
	}
}

// Contest returns the contest of an identity, nil if there is none.
func (t *Table) Contest(identity types.NamespacedName) *Contest { return t.contests[identity] }

// Contests returns all contests, ordered by identity.
func (t *Table) Contests() []*Contest {
	all := make([]*Contest, 0, len(t.contests))
	for _, c := range t.contests {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *Contest) int { return cmp.Compare(a.Identity.String(), b.Identity.String()) })
	return all
}

// Isolates reports whether each claimant runs its own document if no Resolver decides.
func (t *Table) Isolates() bool { return t.config.Precedence == nil }

// Decide returns which of the claimants of an identity may run. With fewer than two claimants there
// is no contest: Decide ends an existing one, and returns nil.
func (t *Table) Decide(identity types.NamespacedName, now time.Time) *Contest {
	claimants := t.config.Claimants(identity)
	c := t.contests[identity]
	if len(claimants) < 2 {
		t.end(c)
		return nil
	}
	if c == nil {
		c = &Contest{Identity: identity, Since: now}
		t.contests[identity] = c
	}
	r := t.resolution(c, claimants)
	c.Rule, c.Pending, c.Winner, c.Stopped = api.RulePolicy, r == nil, NoWinner, false
	switch {
	case r == nil || r.Choice == api.ChooseNone:
		c.Stopped = true
	case r.Choice == api.ChooseWinner && r.Winner < len(claimants):
		c.Winner = r.Winner
	case !t.Isolates():
		c.Rule, c.Winner = api.RulePrecedence, t.preferred(claimants)
	default:
		c.Rule = api.RuleIsolate
	}
	return c
}

func (t *Table) end(c *Contest) {
	if c == nil {
		return
	}
	delete(t.contests, c.Identity)
	delete(t.asked, c.ticket)
	delete(t.restored, c.Identity)
	if c.Resolution != nil {
		t.output.Drop = append(t.output.Drop, c.Identity)
	}
}

// preferred returns the index of the claimant whose source comes first in Precedence.
func (t *Table) preferred(claimants []api.Candidate) (first int) {
	for i := range claimants {
		if t.placeOf(claimants[i].Origin.Source) < t.placeOf(claimants[first].Origin.Source) {
			first = i
		}
	}
	return first
}

func (t *Table) placeOf(source string) int {
	if i := slices.Index(t.config.Precedence, source); i >= 0 {
		return i
	}
	return len(t.config.Precedence) + slices.Index(t.config.Sources, source)
}

// resolution returns the Resolver's answer, nil if there is none yet.
func (t *Table) resolution(c *Contest, claimants []api.Candidate) *api.Resolution {
	if !t.config.Resolves {
		return &api.Resolution{Choice: api.NoChoice}
	}
	if key := keyOf(claimants); key != c.key {
		c.key, c.Resolution = key, nil
		if kept, ok := t.restored[c.Identity]; ok && kept.Key == key && (kept.Resolution.Choice != api.ChooseWinner || names(&kept.Resolution, claimants)) {
			c.Resolution = &kept.Resolution
		} else {
			t.ask(c, claimants)
		}
	}
	return c.Resolution
}

// keyOf returns a hash of a set of claimants: their sources, documents and instances.
func keyOf(claimants []api.Candidate) string {
	hash := sha256.New()
	for i := range claimants {
		c := &claimants[i]
		instance, err := pod.Instance(c.Pod)
		if err != nil {
			instance = c.Origin.Version
		}
		for _, part := range []string{c.Origin.Source, c.Origin.Document, instance} {
			fmt.Fprintf(hash, "%d:%s", len(part), part)
		}
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// ask adds a question for the Resolver. An answer to an earlier question is ignored from then on.
func (t *Table) ask(c *Contest, claimants []api.Candidate) {
	t.tickets++
	delete(t.asked, c.ticket)
	c.ticket = t.tickets
	t.asked[c.ticket] = c
	t.output.Questions = append(t.output.Questions, Question{c.ticket, api.Contest{Identity: c.Identity, Candidates: claimants}})
}

// AskAgain puts every contest to the Resolver again. The last answer is used until the new one
// arrives. The last answer is removed from the disk: otherwise a restart would restore it and ask
// nothing. Answers from before a restart for contests that do not exist yet become invalid.
func (t *Table) AskAgain() {
	for identity, kept := range t.restored {
		kept.Key = ""
		t.restored[identity] = kept
		t.output.Drop = append(t.output.Drop, identity)
	}
	for _, c := range t.Contests() {
		t.ask(c, t.config.Claimants(c.Identity))
		t.output.Drop = append(t.output.Drop, c.Identity)
	}
}

// Answer records an answer of the Resolver and returns the contest to decide again. It returns nil
// if the question was asked again or the contest has ended.
func (t *Table) Answer(ticket uint64, r api.Resolution) *Contest {
	c := t.asked[ticket]
	if c == nil {
		return nil
	}
	delete(t.asked, ticket)
	delete(t.restored, c.Identity)
	c.ticket, c.Resolution = 0, settle(r, t.config.Claimants(c.Identity))
	t.answered = append(t.answered, c)
	return c
}

// settle makes an answer independent of which claimant runs later: ChooseCurrent becomes the
// claimant that runs now. An invalid winner, or ChooseCurrent without a running claimant, becomes
// NoChoice.
func settle(r api.Resolution, claimants []api.Candidate) *api.Resolution {
	if r.Choice != api.ChooseWinner {
		r.Mutation = nil
	}
	switch current := slices.IndexFunc(claimants, func(c api.Candidate) bool { return c.Running != nil }); {
	case r.Choice == api.ChooseCurrent && current >= 0:
		r.Choice, r.Winner = api.ChooseWinner, current
	case r.Choice == api.ChooseCurrent, r.Choice == api.ChooseWinner && !names(&r, claimants):
		r.Choice, r.Winner, r.Mutation = api.NoChoice, 0, nil
	}
	return &r
}

// names reports whether the winner of an answer is a claimant, and the mutation of the answer can
// be applied to the winner's pod.
func names(r *api.Resolution, claimants []api.Candidate) bool {
	if r.Winner < 0 || r.Winner >= len(claimants) {
		return false
	}
	return r.Mutation == nil || r.Mutation.Usable(claimants[r.Winner].Pod) == nil
}

// Restore adds an answer that was stored before a restart.
func (t *Table) Restore(r state.Resolution) { t.restored[r.Identity] = r }

// Forget drops the answers from before a restart, and removes those without a contest from the
// disk. It is called once all sources have delivered.
func (t *Table) Forget() {
	for identity := range t.restored {
		if t.contests[identity] == nil {
			t.output.Drop = append(t.output.Drop, identity)
		}
	}
	clear(t.restored)
}

// Take returns the Output of the calls since the last Take.
func (t *Table) Take() Output {
	out := t.output
	for _, c := range t.answered {
		if t.contests[c.Identity] == c && c.Resolution != nil {
			out.Keep = append(out.Keep, state.Resolution{Identity: c.Identity, Key: c.key, Resolution: *c.Resolution})
		}
	}
	t.output, t.answered = Output{}, nil
	return out
}
