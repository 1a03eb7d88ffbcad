package author

import (
	"context"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/policy"
	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/rollout"
	"github.com/wardlet/wardlet/core/policy/spec"
)

// LintPolicies loads the policies of a directory as an agent of this
// configuration would, with a compile cache of its own that is removed again, and
// says what their author should look at. A signature is not asked for. The error
// has every reason why the set would be refused.
func LintPolicies(ctx context.Context, cfg *config.Config, dir string) (set api.PolicySet, advice []spec.Fault, err error) {
	err = parts.WithPolicies(cfg, "lint", dir, func(o rollout.Options) error {
		o.Trust = bundle.Trust{}
		set, advice, err = policy.Lint(ctx, o)
		return err
	})
	return set, advice, err
}
