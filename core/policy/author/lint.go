package author

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/rollout"
	"github.com/wardlet/wardlet/core/policy/spec"
)

// Lint checks a set as rollout.Check does. It also returns advice about policies that would
// be accepted. The error has every Fault for which the set would be refused.
func Lint(ctx context.Context, o rollout.Options) (set api.PolicySet, advice []spec.Fault, err error) {
	got := bundle.Read(o.Options)
	for _, d := range got.Documents {
		for _, text := range adviceOn(d, o.Now()) {
			advice = append(advice, spec.Fault{File: d.File, Message: text})
		}
	}
	set, err = rollout.CheckBundle(ctx, &o, got)
	return set, advice, err
}

// soon is how long before an exception ends there is advice about it.
const soon = 14 * 24 * time.Hour

// adviceOn returns what an author should look at in a document.
func adviceOn(d *spec.Document, now time.Time) (all []string) {
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if d.Mode == spec.ModeOff {
		say("the policy is off: its plugin is not loaded and its tests are not run")
	}
	for i := range d.Exceptions {
		switch e, until := &d.Exceptions[i], d.Exceptions[i].Until; {
		case until.IsZero():
		case !now.Before(until):
			say("the exception of %s for %q has expired at %s; remove it", e.Owner, e.Pods, until.Format(time.RFC3339))
		case until.Sub(now) < soon:
			say("the exception of %s for %q ends at %s; the policy is asked about these pods then", e.Owner, e.Pods, until.Format(time.RFC3339))
		}
	}
	if !d.IsGroup() && d.OnError == api.Allow {
		say(`on_error = "allow" lets every pod pass that makes the plugin fail; "hold" is safer`)
	}
	if !d.IsGroup() && d.SHA256 == "" {
		say("sha256 is missing: whoever can replace %s changes the policy", d.Module)
	}
	if len(d.Tests) == 0 {
		say("there is no [[test]]: nothing shows that it does what it should before it is in force")
	}
	for _, hook := range d.Hooks {
		if len(d.Tests) > 0 && !slices.ContainsFunc(d.Tests, func(t spec.TestCase) bool { return t.Hook == hook }) {
			say("there is no [[test]] of the hook %s", hook)
		}
	}
	return all
}

// LintPolicies loads the policies of a directory as an agent of this configuration would,
// with a compile cache of its own that is removed afterwards, and returns advice for their
// author. No signature is required. The error has every reason why the set would be
// refused.
func LintPolicies(ctx context.Context, cfg *config.Config, dir string) (set api.PolicySet, advice []spec.Fault, err error) {
	err = parts.WithPolicies(cfg, "lint", dir, func(o rollout.Options) error {
		o.Trust = bundle.Trust{}
		set, advice, err = Lint(ctx, o)
		return err
	})
	return set, advice, err
}
