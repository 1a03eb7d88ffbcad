package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/compile"
	"github.com/wardlet/wardlet/test/bench/policies/guest"
)

// testPlane runs a plane until the end of the test.
func testPlane(t *testing.T, groups ...group) *plane {
	t.Helper()
	r := testRun(t)
	// The race detector makes compiling slow.
	r.compiling = []wasm.EngineOption{wasm.WithCompiling(compile.Limits{CPU: 1e11, Wall: 3e11}, compile.Normal)}
	p, err := r.newPlane(t.Context(), groups...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestAPlaneAsksThePoliciesThatMatch(t *testing.T) {
	t.Parallel()
	groups := []group{{policies: 2}, {policies: 1, plugin: ofBench}}
	for _, way := range ways {
		groups = append(groups, group{policies: 1, match: way.match})
	}
	p := testPlane(t, groups...)
	if n := len(p.Sets()[0].Policies); n != 1+2+1+len(ways) {
		t.Errorf("%d policies are in force", n)
	}
	for range 3 {
		if err := p.ask(t.Context()); err != nil {
			t.Error(err)
		}
		p.tidied(t.Context())
	}
	if n := len(p.Decisions()); n != 4 { // and the question with which the plane started
		t.Errorf("%d decisions are on record of 4 pods", n)
	}
	p.asked = 4
	if err := p.ask(t.Context()); err == nil || !strings.Contains(err.Error(), "by 3") {
		t.Errorf("three policies that are asked instead of four: %v", err)
	}
	if err := p.check(api.Verdict{Answer: api.Deny, Opinions: make([]api.Opinion, 4)}); err == nil {
		t.Error("a pod that is denied is no error")
	}
}

func TestDecisionsGoOnDuringASwap(t *testing.T) {
	t.Parallel()
	p := testPlane(t, group{policies: 2})
	before := p.Sets()[0]
	during, err := p.stream(t.Context(), func() error { return p.directory.write(1, group{policies: 2}) }, 0)
	if err != nil {
		t.Fatal(err)
	}
	after := p.Sets()[0]
	if after.Generation != before.Generation+1 || after.Policies[0].SHA256 == before.Policies[0].SHA256 {
		t.Errorf("generation %d after %d", after.Generation, before.Generation)
	}
	if least := int(lull / slow / 2); len(during) < least {
		t.Errorf("%d decisions, want at least %d", len(during), least)
	}
	for _, took := range during {
		if took <= 0 {
			t.Errorf("a decision took %v ns", took)
		}
	}
	if quiet, err := p.stream(t.Context(), nil, 7); err != nil || len(quiet) != 7 {
		t.Errorf("%d of 7 decisions: %v", len(quiet), err)
	}
}

func TestAPlaneThatEndsIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	p := testPlane(t, group{policies: 1})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.stop()
	p.running.Wait()
	if err := p.ask(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	p.tidied(ctx)
	if _, err := p.stream(ctx, nil, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestAnotherEditionIsAnotherModule(t *testing.T) {
	t.Parallel()
	r := testRun(t)
	one, err := readModule(r.dir, guest.Example, 1)
	if err != nil {
		t.Fatal(err)
	}
	two, err := readModule(r.dir, guest.Example, 1<<63)
	if err != nil || len(one) != len(two) || bytes.Equal(one, two) {
		t.Errorf("editions of %d and %d bytes: %v", len(one), len(two), err)
	}
	if _, err := readModule(r.dir, "none", 1); err == nil {
		t.Error("a module that was not built is read")
	}
}
