package rollout

import (
	"slices"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// some describes decisions about pods of one tenant; the last failed of them are failures.
type some struct {
	tenant            string
	decisions, failed int
}

func TestASetHasFailedOnceTooManyOfItsDecisionsHave(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		owner string
		had   []some
		after time.Duration
		want  outcome
	}{
		"nothing was asked":                                       {want: unknown},
		"19 decisions that all failed are too few":                {had: []some{{"", 19, 19}}, after: time.Hour, want: unknown},
		"one of 20 is not over 5 percent":                         {had: []some{{"", 20, 1}}, want: unknown},
		"two of 20 are":                                           {had: []some{{"", 20, 2}}, want: failed},
		"ten minutes with 20 decisions are enough":                {had: []some{{"", 20, 1}}, after: 10 * time.Minute, want: passed},
		"ten minutes with 19 decisions are not":                   {had: []some{{"", 19, 0}}, after: 10 * time.Minute, want: unknown},
		"200 decisions are enough at once":                        {had: []some{{"", 200, 10}}, want: passed},
		"199 are not":                                             {had: []some{{"", 199, 9}}, want: unknown},
		"one tenant does not bring the operator's set down":       {had: []some{{"", 10, 0}, {"a", 100, 100}}, want: unknown},
		"nor does it where there are no others":                   {had: []some{{"a", 100, 100}}, want: unknown},
		"nor with one failure on the pods of a great many others": {had: []some{{"b", 40, 1}, {"a", 100, 100}}, want: unknown},
		"nor with one on the operator's":                          {had: []some{{"", 40, 1}, {"a", 100, 100}}, want: unknown},
		"two tenants do":                                          {had: []some{{"a", 10, 10}, {"b", 10, 10}}, want: failed},
		"a tenant and the operator do":                            {had: []some{{"a", 10, 10}, {"", 10, 1}}, want: failed},
		"the operator's pods do":                                  {had: []some{{"a", 10, 0}, {"", 10, 10}}, want: failed},
		"a tenant's own set needs no other":                       {owner: "a", had: []some{{"a", 20, 2}}, want: failed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProbation(test.owner, []string{"p"}, policytest.Instant, make(chan struct{}, 1))
			for _, s := range test.had {
				for i := range s.decisions {
					o := api.Opinion{Policy: "p", Tenant: test.owner, Answer: api.Deny}
					if i >= s.decisions-s.failed {
						o.Failure = string(abi.Trap)
					}
					p.note(s.tenant, []api.Opinion{o}, policytest.Instant)
				}
			}
			if got, _ := p.ended(policytest.Instant.Add(test.after)); got != test.want {
				t.Errorf("outcome %d, want %d, of %+v", got, test.want, p.of)
			}
		})
	}
}

func TestOnlyFailuresOfPluginsThatAreNewAndCountAreCounted(t *testing.T) {
	t.Parallel()
	trap := string(abi.Trap)
	for name, test := range map[string]struct {
		opinion api.Opinion
		want    trial
	}{
		"a denial":                        {api.Opinion{Answer: api.Deny}, trial{1, 0}},
		"a failure":                       {api.Opinion{Answer: api.Hold, Failure: trap}, trial{1, 1}},
		"a failure that allows":           {api.Opinion{Answer: api.Allow, Failure: trap}, trial{1, 1}},
		"a condition that cannot be told": {api.Opinion{Failure: string(eval.ConditionFailed)}, trial{1, 1}},
		"an open breaker":                 {api.Opinion{Failure: string(eval.BreakerOpen)}, trial{1, 1}},
		"no instance at hand":             {api.Opinion{Failure: string(abi.NotReady)}, trial{}},
		"an exception":                    {api.Opinion{Answer: api.Abstain, Reason: api.ReasonException}, trial{}},
		"a policy that only warns":        {api.Opinion{Mode: api.ModeWarn, Failure: trap}, trial{}},
		"a policy that is only recorded":  {api.Opinion{Mode: api.ModeAudit, Failure: trap}, trial{}},
		"a member of a group":             {api.Opinion{Mode: api.ModeMember, Failure: trap}, trial{1, 1}},
		"a policy that was there before":  {api.Opinion{Policy: "old", Failure: trap}, trial{}},
		"another owner's policy":          {api.Opinion{Tenant: "a", Failure: trap}, trial{}},
	} {
		p := newProbation("", []string{"p"}, policytest.Instant, make(chan struct{}, 1))
		if test.opinion.Policy == "" {
			test.opinion.Policy = "p"
		}
		p.note("b", []api.Opinion{test.opinion}, policytest.Instant)
		if got := p.of["b"]; got != test.want {
			t.Errorf("%s: counted %+v, want %+v", name, got, test.want)
		}
	}
	p := newProbation("", []string{"p", "q"}, policytest.Instant, make(chan struct{}, 1))
	p.note("", []api.Opinion{{Policy: "p", Failure: trap}, {Policy: "q", Failure: trap}}, policytest.Instant)
	p.note("", nil, policytest.Instant)
	if got := p.of[""]; got != (trial{1, 1}) {
		t.Errorf("counted %+v for one decision", got)
	}
}

func TestWhatASetHasNewIsOnProbation(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		next func(d policytest.Tree)
		want []string
	}{
		"nothing":                   {func(policytest.Tree) {}, nil},
		"another plugin":            {func(d policytest.Tree) { d.Policy("a", "deny") }, []string{"a"}},
		"other settings":            {func(d policytest.Tree) { d.Policy("a", "allow", "[settings]\nx = 1") }, []string{"a"}},
		"other limits":              {func(d policytest.Tree) { d.Policy("a", "allow", "[limits]\nfuel = 5000") }, []string{"a"}},
		"other pods":                {func(d policytest.Tree) { d.Policy("a", "allow", "[match]\nnamespaces = [\"x\"]") }, []string{"a"}},
		"other conditions":          {func(d policytest.Tree) { d.Policy("a", "allow", "[match]\nconditions = [\"true\"]") }, []string{"a"}},
		"another policy":            {func(d policytest.Tree) { d.Policy("c", "allow") }, []string{"c"}},
		"one policy less":           {func(d policytest.Tree) { d.Remove("a.toml") }, nil},
		"what a failure means":      {func(d policytest.Tree) { d.Policy("a", "allow", "on_error = \"allow\"") }, nil},
		"another order":             {func(d policytest.Tree) { d.Policy("a", "allow", "priority = 7") }, nil},
		"one counts less":           {func(d policytest.Tree) { d.Policy("a", "allow", "mode = \"warn\"") }, nil},
		"one counts that did not":   {func(d policytest.Tree) { d.Policy("b", "allow", "mode = \"enforce\"") }, []string{"b"}},
		"one that is only recorded": {func(d policytest.Tree) { d.Policy("c", "trap", "mode = \"audit\"") }, nil},
	} {
		d, s := policytest.NewTree(t), policytest.NewScripts()
		d.Policy("a", "allow")
		d.Policy("b", "allow", "mode = \"audit\"")
		before, err := loadWhole(t, d, s, nil)
		policytest.Must(t, err)
		test.next(d)
		next, err := loadWhole(t, d, s, before)
		policytest.Must(t, err)
		if got := next.suspects(before); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q are new, want %q", name, got, test.want)
		}
		if got := before.suspects(nil); !slices.Equal(got, []string{"a"}) {
			t.Errorf("%s: %q are new where there was no set", name, got)
		}
	}
}
