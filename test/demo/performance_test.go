package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// record is a record of what a performance of fake steps did, in order.
type record struct {
	did        []string
	out, wrong strings.Builder
}

func (r *record) does(name string, err error) func(context.Context) error {
	return func(context.Context) error {
		r.did = append(r.did, name)
		return err
	}
}

// performance returns a performance of these steps, or one whose set-up fails.
func (r *record) performance(setUp error, steps ...step) *performance {
	return &performance{
		out:     &screen{out: &r.out, wrong: &r.wrong},
		setUp:   func() ([]step, error) { return steps, r.does("set up", setUp)(context.Background()) },
		cleanUp: r.does("clean up", nil), within: time.Minute,
		agentLog: func() []string { return []string{"the agent's last words"} },
		shield:   func() { r.did = append(r.did, "shield") },
	}
}

func TestPerformance(t *testing.T) {
	t.Parallel()
	broken := errors.New("something is broken")
	for name, test := range map[string]struct {
		// setUp, one and cleanUp are the errors of setting up, the first step and cleaning up.
		setUp, one, cleanUp error
		did                 []string
		// out and wrong are the expected outputs.
		out, wrong string
		ok         bool
	}{
		"all is observed": {
			nil, nil, nil,
			[]string{"set up", "one", "two", "shield", "clean up"},
			"1. First.\n2. Second.\nall 2 steps were observed in 0 s\n", "", true,
		},
		"a step that fails is the last one, and all is cleaned up": {
			nil, broken, nil,
			[]string{"set up", "one", "shield", "clean up"},
			"1. First.\n",
			"demo: step 1 was not observed: something is broken\ndemo: the end of the agent's log:\nthe agent's last words\ndemo: cleaning up\n",
			false,
		},
		"a set-up that fails is cleaned up": {
			broken, nil, nil,
			[]string{"set up", "shield", "clean up"},
			"", "demo: setting up: something is broken\ndemo: cleaning up\n", false,
		},
		"what cannot be cleaned up is a failure": {
			nil, nil, broken,
			[]string{"set up", "one", "two", "shield", "clean up"},
			"1. First.\n2. Second.\n", "demo: not all of it could be cleaned up: something is broken\n", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &record{}
			p := r.performance(test.setUp, step{"First.", r.does("one", test.one)}, step{"Second.", r.does("two", nil)})
			p.cleanUp = r.does("clean up", test.cleanUp)
			err := p.run(t.Context())
			if (err == nil) != test.ok {
				t.Errorf("error is %v", err)
			}
			if diff := cmp.Diff(test.did, r.did); diff != "" {
				t.Errorf("what was done (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{test.out, test.wrong}, []string{r.out.String(), r.wrong.String()}); diff != "" {
				t.Errorf("what was printed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAStepThatTakesTooLongSaysWhatWasSeenInstead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &record{}
		p := r.performance(nil, step{"First.", func(ctx context.Context) error {
			return observe(ctx, "the sky falls", func(context.Context) error { return errors.New("it is still up") })
		}})
		began := time.Now()
		if err := p.run(t.Context()); err == nil {
			t.Error("no error")
		}
		if took := time.Since(began); took != p.within {
			t.Errorf("took %s, want %s", took, p.within)
		}
		want := "demo: step 1 was not observed: waited in vain until the sky falls: it is still up\n"
		if !strings.HasPrefix(r.wrong.String(), want) {
			t.Errorf("printed %q, want first %q", r.wrong.String(), want)
		}
	})
}

func TestAnInterruptionCleansUpWithAContextThatLives(t *testing.T) {
	t.Parallel()
	r := &record{}
	ctx, interrupt := context.WithCancel(t.Context())
	p := r.performance(nil, step{"First.", func(ctx context.Context) error { interrupt(); <-ctx.Done(); return ctx.Err() }})
	p.cleanUp = func(ctx context.Context) error { return errors.Join(ctx.Err(), r.does("clean up", nil)(ctx)) }
	if err := p.run(ctx); !errors.Is(err, errInterrupted) {
		t.Errorf("error is %v, want %v", err, errInterrupted)
	}
	if !slices.Equal(r.did, []string{"set up", "shield", "clean up"}) {
		t.Errorf("did %v", r.did)
	}
	if said := r.wrong.String(); !strings.HasPrefix(said, "demo: interrupted") || strings.Contains(said, "last words") {
		t.Errorf("said %q", said)
	}
}

func TestAStepThatPanicsIsCleanedUpToo(t *testing.T) {
	t.Parallel()
	r := &record{}
	p := r.performance(nil, step{"First.", func(context.Context) error { panic("a bug") }})
	defer func() {
		if recover() == nil || !slices.Contains(r.did, "clean up") {
			t.Errorf("did %v", r.did)
		}
		if r.out.String() != "1. First.\n" {
			t.Errorf("printed %q", r.out.String())
		}
	}()
	t.Error("returned", p.run(t.Context()))
}
