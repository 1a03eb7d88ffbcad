package main

import (
	"context"
	"path/filepath"
	"strconv"
)

// buildPolicies builds the program in its own module, and the guests it asks.
func buildPolicies(ctx context.Context, r *run) error {
	if err := r.build(ctx, "test/bench/policies", "the bench of policies with cel-go and OPA", "go", "build", "-o", r.policiesDriver(), "."); err != nil {
		return err
	}
	return r.build(ctx, ".", "the guests of the bench of policies", append(r.policiesArgs(), "-build")...)
}

func (r *run) policiesDriver() string { return filepath.Join(r.tools, "policies") }

// policiesArgs returns the command line of the program, with the paths that it needs.
func (r *run) policiesArgs() []string {
	return []string{r.policiesDriver(), "-root", r.root, "-dir", filepath.Join(r.root, "build", "policybench")}
}

// measurePolicies runs test/bench/policies, which measures the cost of the sandbox of policies.
// That program documents how it measures, and sets the limits; this one checks the figures against
// them.
func measurePolicies(ctx context.Context, r *run, report report) error {
	args := append(r.policiesArgs(), "-rounds", strconv.Itoa(r.rounds))
	return r.drive(ctx, report, args[0], args[1:]...)
}
