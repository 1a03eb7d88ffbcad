package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/test/bench/policies/guest"
)

// built is the directory of the guests for all tests.
var built string

func TestMain(m *testing.M) {
	if status, isChild := wasm.Child(); isChild {
		os.Exit(status)
	}
	os.Exit(testAll(m))
}

func testAll(m *testing.M) int {
	dir, err := os.MkdirTemp("", "policies")
	if err != nil {
		return 1
	}
	defer os.RemoveAll(dir)
	built = dir
	// wazero stores its own version in a variable without a lock: this must happen before tests
	// make runtimes in parallel.
	if err := wazero.NewRuntime(context.Background()).Close(context.Background()); err != nil {
		return 1
	}
	return m.Run()
}

// buildGuests builds all guests, once.
var buildGuests = sync.OnceValue(func() error {
	for _, g := range guest.All() {
		if err := g.Build(context.Background(), "../../..", built); err != nil {
			return err
		}
	}
	return guest.BuildExample(context.Background(), "../../..", built)
})

func testRun(t *testing.T) *run {
	t.Helper()
	if err := buildGuests(); err != nil {
		t.Fatal(err)
	}
	return &run{root: "../../..", dir: built, rounds: 1, progress: &bytes.Buffer{}}
}

func TestArgumentsThatMeanNothing(t *testing.T) {
	t.Parallel()
	for want, try := range map[string]func(r *run) error{
		"rounds: at least 1": func(r *run) error { r.rounds = 0; return r.do(t.Context(), &bytes.Buffer{}, "", "", nil) },
		"no part is named":   func(r *run) error { return r.do(t.Context(), &bytes.Buffer{}, "dance", "", nil) },
		"name of one guest":  func(r *run) error { return r.do(t.Context(), &bytes.Buffer{}, "ready", "", []string{"go"}) },
		"want a side":        func(r *run) error { return r.do(t.Context(), &bytes.Buffer{}, "resident", "", nil) },
		"neither agent nor": func(r *run) error {
			return r.do(t.Context(), &bytes.Buffer{}, "resident", "", []string{"other", "c", "same"})
		},
	} {
		if err := try(testRun(t)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
