package main

import (
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/compile"
	"github.com/wardlet/wardlet/test/bench/policies/bare"
	"github.com/wardlet/wardlet/test/bench/policies/guest"
	"github.com/wardlet/wardlet/test/bench/policies/question"
	"github.com/wardlet/wardlet/test/bench/policies/rivals"
)

// variation is a pod with the rule's verdict.
type variation struct {
	name    string
	pod     *v1.Pod
	allowed bool
}

func variations(t *testing.T) (all []variation) {
	t.Helper()
	add := func(changes []question.Variation, allowed bool) {
		for _, change := range changes {
			p, err := question.Pod()
			if err != nil {
				t.Fatal(err)
			}
			change.Apply(p)
			all = append(all, variation{change.Name, p, allowed})
		}
	}
	add(question.Allowed(), true)
	add(question.Faults(), false)
	if len(all) < 50 {
		t.Errorf("only %d pods", len(all))
	}
	return all
}

func TestGuestsJudgeByTheRule(t *testing.T) {
	t.Parallel()
	r := testRun(t)
	// The race detector makes compiling slow.
	engine, err := wasm.NewEngine(r.agentCache(), slog.New(slog.DiscardHandler), wasm.WithCompiling(compile.Limits{CPU: 1e11, Wall: 3e11}, compile.Lowest))
	if err != nil {
		t.Fatal(err)
	}
	a := &agent{engine: engine}
	defer func() {
		if err := a.close(); err != nil {
			t.Error(err)
		}
	}()
	pods := variations(t)
	for _, g := range guest.All() {
		binary, err := g.Read(r.dir)
		if err != nil {
			t.Fatal(err)
		}
		plugin, err := load(t.Context(), engine, g, binary)
		if err != nil {
			t.Fatalf("%s: %v", g, err)
		}
		a.guests = append(a.guests, &loaded{plugin: plugin})
		for _, asked := range pods {
			result, err := plugin.Admit(t.Context(), question.Request(asked.pod))
			want := api.Allow
			if !asked.allowed {
				want = api.Deny
			}
			if err != nil || result.Answer != want {
				t.Errorf("%s: %s: %+v, %v, want %s", g, asked.name, result, err, want)
			}
		}
	}
}

func TestRivalsJudgeByTheSameRule(t *testing.T) {
	t.Parallel()
	c, err := rivals.NewCEL()
	if err != nil {
		t.Fatal(err)
	}
	o, err := rivals.NewRego(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w, err := rivals.NewRegoWasm(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	for _, asked := range variations(t) {
		object, err := rivals.Unstructured(asked.pod)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := rivals.Parsed(object)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(asked.pod)
		if err != nil {
			t.Fatal(err)
		}
		for name, judge := range map[string]func() (bool, error){
			cel:      func() (bool, error) { return c.Allowed(object) },
			rego:     func() (bool, error) { return o.Allowed(t.Context(), parsed) },
			regoWasm: func() (bool, error) { return w.Allowed(t.Context(), text) },
			native:   func() (bool, error) { return rivals.Native(asked.pod), nil },
		} {
			if allowed, err := judge(); err != nil || allowed != asked.allowed {
				t.Errorf("%s: %s: %v, %v", name, asked.name, allowed, err)
			}
		}
	}
}

func TestGuestsJudgeTheSameOnPlainWazero(t *testing.T) {
	t.Parallel()
	r := testRun(t)
	code, err := bare.New(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := code.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	for _, g := range []guest.Guest{
		{Language: guest.C, Form: guest.Projection},
		{Language: guest.C, Form: guest.Lazy},
		{Language: guest.C, Form: guest.Document},
		{Language: guest.Go, Form: guest.Projection},
	} {
		binary, err := g.Read(r.dir)
		if err != nil {
			t.Fatal(err)
		}
		metered, err := bare.Metered(binary)
		if err != nil {
			t.Fatal(err)
		}
		for _, module := range [][]byte{binary, metered} {
			if err := judgeBare(t, code, g, module); err != nil {
				t.Errorf("%s: %v", g, err)
			}
		}
	}
}

func judgeBare(t *testing.T, code *bare.Runtime, g guest.Guest, module []byte) error {
	t.Helper()
	compiled, err := code.Compile(t.Context(), module)
	if err != nil {
		return err
	}
	for _, asked := range variations(t) {
		encoded, err := bare.Encode(asked.pod)
		if len(asked.pod.Spec.EphemeralContainers) > 0 {
			if err == nil {
				return errors.New("a pod with ephemeral containers is encoded")
			}
			continue
		}
		if err != nil {
			return err
		}
		instance, err := compiled.Instantiate(t.Context(), encoded, uint64(g.MemoryPages())<<16)
		if err != nil {
			return err
		}
		for range 2 {
			if err := instance.Hand(); err != nil {
				return err
			}
			if answer, err := instance.Judge(); err != nil || (answer == 0) != asked.allowed {
				t.Errorf("%s: %s: %d, %v", g, asked.name, answer, err)
			}
			if err := instance.Reset(); err != nil {
				return err
			}
		}
		if err := instance.Close(t.Context()); err != nil {
			return err
		}
	}
	return nil
}

func TestThePodIsAsLargeAsItIsSaidToBe(t *testing.T) {
	t.Parallel()
	p, err := question.Pod()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(text); n < 6445 || n > 6465 {
		t.Errorf("%d bytes of JSON", n)
	}
	if len(p.Spec.Containers) != 3 || len(p.Spec.InitContainers) != 1 {
		t.Errorf("%d containers, %d init containers", len(p.Spec.Containers), len(p.Spec.InitContainers))
	}
}
