package policy

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/rollout"
	"github.com/wardlet/wardlet/core/policy/sched"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// scripted is a Loader of scripts.
type scripted struct{ *policytest.Scripts }

func (l scripted) Load(ctx context.Context, binary []byte, o wasm.Options) (eval.Plugin, error) {
	p, err := l.Scripts.Load(ctx, binary, o)
	if err != nil {
		return nil, err
	}
	return p, nil
}

func testConfig(d policytest.Tree, s *policytest.Scripts) Config {
	return Config{
		Dir: d.Dir, DefaultVerdict: api.Allow, Kinds: map[string]string{"static": "file", "cluster": "api"}, Node: "node-1",
		Loader: scripted{s}, Logger: slog.New(slog.DiscardHandler), Now: time.Now, Evaluators: 1,
	}
}

// run runs an engine until stop is called or the test ends.
func run(t *testing.T, p *Engine) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := p.Run(ctx); err == nil || ctx.Err() == nil {
			t.Errorf("Run ended with %v before its context", err)
		}
	})
	stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
	})
	t.Cleanup(stop)
	return stop
}

// ask returns the verdict on a question.
func ask(t *testing.T, p *Engine, q api.Question) api.Verdict {
	t.Helper()
	answer := make(chan api.Verdict, 1)
	p.Judge(q, func(v api.Verdict) { answer <- v })
	select {
	case v := <-answer:
		return v
	case <-time.After(10 * time.Second):
		t.Fatal("no verdict within 10 s")
		return api.Verdict{}
	}
}

// decisionOn returns a decision on a question from a file, at a fixed time.
func decisionOn(q api.Question) *eval.Decision {
	return &eval.Decision{Hook: api.HookAdmit, Node: "node-1", Request: policytest.Request(q), Names: []string{q.Pod.Namespace + "/" + q.Pod.Name}, Current: &sched.CurrentPolicy{}}
}

// loadSet loads the policies of a directory and runs their tests.
func loadSet(t *testing.T, d policytest.Tree, s *policytest.Scripts) (*eval.Set, error) {
	t.Helper()
	c := testConfig(d, s)
	o := c.rollout("", c.Dir, c.Trust, 0)
	got, err := rollout.LoadOnce(t.Context(), &o, bundle.Read(o.Options))
	if err != nil {
		return nil, err
	}
	return got.Eval, nil
}

// operatorOf returns the options for an owner's policies in a directory.
func operatorOf(d policytest.Tree, s *policytest.Scripts, tenant string) rollout.Options {
	c := testConfig(d, s)
	o := c.operator()
	o.Tenant = tenant
	return o
}

// checkSandboxed loads and tests policies whose plugins are WebAssembly.
func checkSandboxed(t *testing.T, d policytest.Tree) (api.PolicySet, error) {
	t.Helper()
	c := sandboxed(t, d)
	return rollout.Check(t.Context(), c.operator())
}

// operator returns the options for the operator's policies.
func (c *Config) operator() rollout.Options { return c.rollout("", c.Dir, c.Trust, 0) }
