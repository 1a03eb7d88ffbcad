package conflict

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/state"
)

var (
	web   = types.NamespacedName{Namespace: "default", Name: "web"}
	start = time.Unix(1_760_000_000, 0)
)

// claim returns a claimant of default/web from a source. If runs is true, the claimant's pod
// runs.
func claim(source, image string, runs bool) api.Candidate {
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: types.UID(source + image)},
		Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "c", Image: image}}},
	}
	c := api.Candidate{Pod: p, Origin: api.Origin{Source: source, Document: "a#0", Version: image}}
	if runs {
		c.Running = p
	}
	return c
}

// claims are the claimants of default/web.
type claims []api.Candidate

func (c *claims) of(types.NamespacedName) []api.Candidate { return *c }

func (c *claims) table(resolves bool, precedence ...string) *Table {
	return NewTable(Config{Sources: []string{"two", "one", "api"}, Resolves: resolves, Precedence: precedence, Claimants: c.of})
}

func TestDecide_theRuleOfTheNode(t *testing.T) {
	t.Parallel()
	one, two, three := claim("one", "i", false), claim("two", "i", true), claim("api", "i", false)
	for name, test := range map[string]struct {
		precedence []string
		claimants  claims
		rule       string
		winner     int
	}{
		"each runs its own without precedence":         {nil, claims{one, two}, api.RuleIsolate, NoWinner},
		"the first source of the list runs":            {[]string{"two", "one"}, claims{one, two}, api.RulePrecedence, 1},
		"one that is not in the list comes last":       {[]string{"api"}, claims{three, one, two}, api.RulePrecedence, 0},
		"of those the first in the configuration runs": {[]string{"api"}, claims{one, two}, api.RulePrecedence, 1},
		"it does not count who runs":                   {[]string{"one"}, claims{one, two}, api.RulePrecedence, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := test.claimants.table(false, test.precedence...).Decide(web, start)
			if c.Rule != test.rule || c.Winner != test.winner || c.Stopped || c.Pending {
				t.Errorf("decided %+v, want winner %d by %s", c, test.winner, test.rule)
			}
		})
	}
}

func TestDecide_theAnswerOfTheResolver(t *testing.T) {
	t.Parallel()
	both := claims{claim("one", "i", false), claim("two", "i", true)}
	for name, test := range map[string]struct {
		answer  api.Resolution
		rule    string
		winner  int
		stopped bool
	}{
		"a winner runs":                      {api.Resolution{Choice: api.ChooseWinner, Winner: 1}, api.RulePolicy, 1, false},
		"none may run":                       {api.Resolution{Choice: api.ChooseNone}, api.RulePolicy, NoWinner, true},
		"what runs goes on":                  {api.Resolution{Choice: api.ChooseCurrent}, api.RulePolicy, 1, false},
		"no choice is left to the node":      {api.Resolution{Choice: api.NoChoice}, api.RulePrecedence, 0, false},
		"a winner that is none is no choice": {api.Resolution{Choice: api.ChooseWinner, Winner: 2}, api.RulePrecedence, 0, false},
		"nor is a negative one":              {api.Resolution{Choice: api.ChooseWinner, Winner: -1}, api.RulePrecedence, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table := both.table(true, "one")
			if c := table.Decide(web, start); !c.Pending || !c.Stopped || c.Winner != NoWinner {
				t.Errorf("before the answer: %+v, want that nothing begins or ends", c)
			}
			questions := table.Take().Questions
			if len(questions) != 1 || len(questions[0].Candidates) != 2 {
				t.Fatalf("asked %+v, want one question about two", questions)
			}
			if table.Answer(questions[0].Ticket, test.answer) == nil {
				t.Fatal("the answer does not count")
			}
			c := table.Decide(web, start)
			if c.Rule != test.rule || c.Winner != test.winner || c.Stopped != test.stopped || c.Pending {
				t.Errorf("decided %+v, want winner %d by %s, stopped %v", c, test.winner, test.rule, test.stopped)
			}
			if out := table.Take(); len(out.Keep) != 1 || len(out.Questions) != 0 {
				t.Errorf("the answer is followed by %+v, want it kept and no question", out)
			}
		})
	}
}

func TestDecide_currentIsNoChoiceWhereNothingRuns(t *testing.T) {
	t.Parallel()
	both := claims{claim("one", "i", false), claim("two", "i", false)}
	table := both.table(true)
	table.Decide(web, start)
	table.Answer(1, api.Resolution{Choice: api.ChooseCurrent})
	if c := table.Decide(web, start); c.Rule != api.RuleIsolate {
		t.Errorf("decided by %s", c.Rule)
	}
}

func TestDecide_anAnswerCountsForItsClaimants(t *testing.T) {
	t.Parallel()
	one, two := claim("one", "i", false), claim("two", "i", false)
	all := &claims{one, two}
	table := all.table(true)
	table.Decide(web, start)
	table.Answer(1, api.Resolution{Choice: api.ChooseWinner})
	table.Take()
	*all = claims{one, claim("two", "j", false)}
	if c := table.Decide(web, start); !c.Pending {
		t.Errorf("with another instance: %+v, want that it is asked again", c)
	}
	if table.Answer(1, api.Resolution{Choice: api.ChooseWinner}) != nil {
		t.Error("the answer to an earlier question counts")
	}
	*all = claims{one}
	if c := table.Decide(web, start); c != nil || table.Contest(web) != nil {
		t.Errorf("with one claimant: %+v", c)
	}
	if table.Answer(2, api.Resolution{Choice: api.ChooseWinner}) != nil {
		t.Error("the answer to a contest that has ended counts")
	}
}

func TestRestore_anAnswerCountsForTheSameClaimants(t *testing.T) {
	t.Parallel()
	all := &claims{claim("one", "i", false), claim("two", "i", false)}
	before := all.table(true)
	before.Decide(web, start)
	before.Answer(1, api.Resolution{Choice: api.ChooseWinner, Winner: 1})
	kept := before.Take().Keep[0]

	table := all.table(true)
	table.Restore(kept)
	if c := table.Decide(web, start); c.Winner != 1 || c.Pending || len(table.Take().Questions) != 0 {
		t.Errorf("decided %+v, want the answer from before the restart", c)
	}
	*all = claims{claim("one", "j", false), claim("two", "i", false)}
	if c := table.Decide(web, start); !c.Pending {
		t.Errorf("with another claimant: %+v", c)
	}
}

func TestAskAgain_theLastAnswerCountsMeanwhileAndIsNotKept(t *testing.T) {
	t.Parallel()
	all := &claims{claim("one", "i", false), claim("two", "i", false)}
	table := all.table(true)
	table.Restore(state.Resolution{Identity: types.NamespacedName{Namespace: "default", Name: "db"}, Key: "k"})
	table.Decide(web, start)
	table.Answer(1, api.Resolution{Choice: api.ChooseWinner, Winner: 1})
	table.Take()
	table.AskAgain()
	out := table.Take()
	if len(out.Questions) != 1 || len(out.Keep) != 0 {
		t.Errorf("followed by %+v, want one question", out)
	}
	if diff := cmp.Diff([]types.NamespacedName{{Namespace: "default", Name: "db"}, web}, out.Drop); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
	if c := table.Decide(web, start); c.Winner != 1 || c.Pending {
		t.Errorf("meanwhile %+v, want the last answer", c)
	}
}

func TestForget_dropsAnswersToWhatIsNoContest(t *testing.T) {
	t.Parallel()
	table := (&claims{}).table(true)
	table.Restore(state.Resolution{Identity: web, Key: "k"})
	table.Forget()
	if diff := cmp.Diff([]types.NamespacedName{web}, table.Take().Drop); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
}
