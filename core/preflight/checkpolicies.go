package preflight

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/policy/rollout"
)

// policyPatience limits the time for loading policies: compiling each one may take half a minute.
const policyPatience = 5 * time.Minute

// checkPolicies loads the policies of each owner as the agent would, with a temporary compile
// cache.
func checkPolicies(ctx context.Context, cfg *config.Config, node string) []Finding {
	if !cfg.HasPolicies() {
		return []Finding{{LevelOK, "policies", "none, every pod is admitted; policy.dir names no directory"}}
	}
	var found []Finding
	if cfg.Policy.Dir != "" {
		found = append(found, checkSet(ctx, cfg, node, "policies "+cfg.Policy.Dir, cfg.Policy.Dir))
	}
	for _, t := range cfg.Tenants {
		if t.PolicyDir != "" {
			found = append(found, checkSet(ctx, cfg, node, fmt.Sprintf("policies %s of tenant %s", t.PolicyDir, t.Name), t.PolicyDir))
		}
	}
	return found
}

// checkSet loads the policies of one directory.
func checkSet(ctx context.Context, cfg *config.Config, node, subject, dir string) Finding {
	ctx, cancel := context.WithTimeout(ctx, policyPatience)
	defer cancel()
	type answer struct {
		set api.PolicySet
		err error
	}
	loaded := make(chan answer, 1)
	go func() {
		set, err := loadPolicies(ctx, cfg, node, dir)
		loaded <- answer{set, err}
	}()
	var a answer
	select {
	case a = <-loaded:
	case <-ctx.Done():
		a.err = fmt.Errorf("not loaded: %w", ctx.Err())
	}
	if a.err != nil {
		return Finding{LevelFail, subject, a.err.Error()}
	}
	return Finding{LevelOK, subject, setInWords(&a.set)}
}

func loadPolicies(ctx context.Context, cfg *config.Config, node, dir string) (set api.PolicySet, err error) {
	err = parts.WithPolicies(cfg, node, dir, func(o rollout.Options) error {
		set, err = rollout.Check(ctx, o)
		return err
	})
	return set, err
}

// setInWords names the policies of a loaded set and counts their tests, all of which have passed.
func setInWords(set *api.PolicySet) string {
	names := make([]string, len(set.Policies))
	tests := 0
	for i := range set.Policies {
		names[i] = set.Policies[i].Name
		tests += testsOf(&set.Policies[i])
	}
	return fmt.Sprintf("%s (%s), %s passed", count(len(names), "policy", "policies"), strings.Join(names, ", "), count(tests, "test", "tests"))
}

// testsOf returns the number of tests that were run for a policy: 0 if it is off.
func testsOf(p *api.PolicyState) int {
	if p.Mode == "off" {
		return 0
	}
	var document struct {
		Tests []toml.Primitive `toml:"test"`
	}
	_, _ = toml.DecodeFile(p.Document, &document) // it was just read successfully
	return len(document.Tests)
}
