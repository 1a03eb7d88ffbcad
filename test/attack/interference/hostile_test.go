package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"testing"

	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/test/attack"
)

func TestMain(m *testing.M) {
	if status, isChild := wasm.Child(); isChild {
		os.Exit(status)
	}
	os.Exit(m.Run())
}

// modules returns all attacks, assembled once.
var modules = sync.OnceValues(func() ([]*attack.Module, error) {
	dir, err := os.MkdirTemp("", "wardlet-interference-")
	if err != nil {
		return nil, err
	}
	all, err := attack.Modules(context.Background(), dir)
	return all, errors.Join(err, os.RemoveAll(dir))
})

// loaded returns the attack of that name, loaded for a tenant.
func loaded(t *testing.T, name string) (*wasm.Engine, *target) {
	t.Helper()
	engine, err := wasm.NewEngine(t.TempDir()+"/compiled", slog.New(slog.DiscardHandler))
	must(t, err)
	all, err := modules()
	must(t, err)
	for _, m := range all {
		if m.Name != name {
			continue
		}
		tg := &target{module: m, tenant: "a"}
		must(t, tg.load(t.Context(), engine))
		t.Cleanup(func() {
			must(t, tg.now.plugin.Close())
			must(t, engine.Close())
		})
		return engine, tg
	}
	t.Fatalf("there is no attack %s", name)
	return nil, nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestCallsOutliveTheSetTheyBeganIn(t *testing.T) {
	t.Parallel()
	engine, tg := loaded(t, "memory-storm-after-calm-pages")
	b := &bench{engine: engine}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for ctx.Err() == nil {
				b.attack(ctx, tg, &tg.module.Questions[0])
			}
		})
	}
	first := tg.now.plugin
	for range 5 {
		must(t, tg.load(t.Context(), engine))
	}
	cancel()
	all.Wait()
	if err := b.faults.err(); err != nil {
		t.Error(err)
	}
	if _, err := tg.module.Try(t.Context(), first, &tg.module.Questions[0]); err == nil {
		t.Error("the plugin of the first set is open")
	}
}

func TestAWrongAnswerIsFoundAndNoInstanceIsNot(t *testing.T) {
	t.Parallel()
	b := &bench{}
	b.attempted(t.Context(), nil)
	b.attempted(t.Context(), wasm.ErrNotReady)
	if err := b.faults.err(); err != nil || b.attempts.Load() != 1 || b.missed.Load() != 1 {
		t.Errorf("%v, %d attempts, %d missed", err, b.attempts.Load(), b.missed.Load())
	}
	wrong := errors.New("another answer")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	b.attempted(ended, wrong)
	if err := b.faults.err(); err != nil {
		t.Errorf("what the phase's end did counts: %v", err)
	}
	b.attempted(t.Context(), wrong)
	if err := b.faults.err(); !errors.Is(err, wrong) {
		t.Errorf("error %v", err)
	}
}

func TestAPluginIsAskedToBeCalmBeforeItStorms(t *testing.T) {
	t.Parallel()
	_, tg := loaded(t, "memory-storm-after-calm-grow")
	var n []int
	for i := range tg.module.Questions {
		n = append(n, times(&tg.module.Questions[i]))
	}
	if len(n) != 2 || n[0] < leastCalm || n[0] > mostCalm || n[1] != 1 {
		t.Errorf("it is asked %d times", n)
	}
}
