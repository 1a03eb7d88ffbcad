package agent

import (
	"log/slog"
	"path/filepath"
	"time"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/pleg"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/worker"
)

// compiledDir is the directory of compiled plugins in the state directory.
const compiledDir = "compiled"

// Child does the work of a process that the agent has started to compile a
// plugin, if this process is one: isChild says so, and status is what to exit
// with. Every program that makes an Agent, or checks a configuration, calls it
// first thing.
func Child() (status int, isChild bool) { return wasm.Child() }

// wirePolicies makes the plane that judges pods, and what stands before it.
// Without a directory of policies there is none, and every pod passes.
func (a *Agent) wirePolicies() error {
	if a.cfg.Policy.Dir == "" {
		return nil
	}
	engine, err := wasm.NewEngine(filepath.Join(a.state.Path(), compiledDir), a.log)
	if err != nil {
		return err
	}
	a.engine = engine
	a.policies = policy.New(policyConfig(a.cfg, a.node, policy.Sandbox(engine), a.log))
	a.adoption = &adoption{
		Gate: a.policies, runtime: knownPods{a.cache, a.workers}, lost: a.state.Lost, log: a.log,
	}
	a.removals.adoption = a.adoption
	return nil
}

// policyConfig is what a plane is made from, here and for a check.
func policyConfig(cfg *config.Config, node string, loader policy.Loader, log *slog.Logger) policy.Config {
	kinds := map[string]string{}
	for _, s := range cfg.Sources {
		kinds[s.Name] = s.Kind
	}
	return policy.Config{
		Dir: cfg.Policy.Dir, AllowUnpinned: cfg.Policy.AllowUnpinned,
		DefaultVerdict: pod.Answer(cfg.Policy.DefaultVerdict), Kinds: kinds, Node: node,
		Loader: loader, Logger: log, Now: time.Now,
	}
}

// knownPods are the pods of the runtime and of the workers.
type knownPods struct {
	*pleg.Cache
	*worker.Pool
}
