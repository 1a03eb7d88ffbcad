package rollout

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/sched"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// loadWhole loads the policies of a directory while the set running is in force.
func loadWhole(t *testing.T, d policytest.Tree, s *policytest.Scripts, running *Set) (*Set, error) {
	t.Helper()
	o := optionsFor(d, s)
	l := Loader{Options: &o}
	got, err := l.load(t.Context(), bundle.Read(o.Options), running)
	if at := l.at.Name(); at != "" {
		t.Errorf("the loader says it is still in the plugin of %s", at)
	}
	return got, err
}

// loadTested is loadWhole that takes and returns only the policies.
func loadTested(t *testing.T, d policytest.Tree, s *policytest.Scripts, running *eval.Set) (*eval.Set, error) {
	t.Helper()
	var before *Set
	if running != nil {
		before = &Set{Eval: running}
	}
	got, err := loadWhole(t, d, s, before)
	if err != nil {
		return nil, err
	}
	return got.Eval, nil
}

// scriptLoader is a Loader of scripts.
type scriptLoader struct{ *policytest.Scripts }

func (l scriptLoader) Load(ctx context.Context, binary []byte, o wasm.Options) (eval.Plugin, error) {
	p, err := l.Scripts.Load(ctx, binary, o)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// optionsFor returns the options for the operator's policies in a directory.
func optionsFor(d policytest.Tree, s *policytest.Scripts) Options {
	return Options{
		Options: bundle.Options{Dir: d.Dir}, Node: "node-1", Loader: scriptLoader{s}, Logger: slog.New(slog.DiscardHandler), Now: time.Now,
	}
}

// decisionFor returns a decision on a question from a file, at a fixed time.
func decisionFor(q api.Question) *eval.Decision {
	return &eval.Decision{Hook: api.HookAdmit, Node: "node-1", Request: policytest.Request(q), Names: []string{q.Pod.Namespace + "/" + q.Pod.Name}, Current: &sched.CurrentPolicy{}}
}
