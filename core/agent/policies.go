package agent

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/node"
	"github.com/wardlet/wardlet/core/pleg"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy"
	"github.com/wardlet/wardlet/core/policy/signed"
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
	if !a.cfg.HasPolicies() {
		return nil
	}
	engine, err := newEngine(a.state.Path(), &a.cfg.Policy, a.log, budgets(a.cfg.Tenants)...)
	if err != nil {
		return err
	}
	a.engine = engine
	c, err := policyConfig(a.cfg, a.node, policy.Sandbox(engine), a.log)
	if err != nil {
		return err
	}
	c.Kept, c.Opinions, c.Version, c.Facts = a.state.PolicySets(), a.state.Opinions(), a.version, a.nodeFacts()
	c.Records, c.Running, c.Evictions = a.openDecisions(), &runningPods{a}, a.state.EvictionCounts()
	a.policies = policy.New(c)
	a.adoption = &adoption{
		Gate: a.standing(meteredGate{a.policies, a.meters}), runtime: knownPods{a.cache, a.workers}, lost: a.state.Lost, log: a.log,
	}
	a.removals.adoption = a.adoption
	return nil
}

// newEngine makes the sandbox of a configuration, whose compiled code lies
// below dir.
func newEngine(dir string, p *config.Policy, log *slog.Logger, more ...wasm.EngineOption) (*wasm.Engine, error) {
	return wasm.NewEngine(filepath.Join(dir, compiledDir), log, append(more, wasm.WithCaps(moduleCaps(p)))...)
}

// budgets are what compiling the plugins of each tenant may take, and what plugins
// may log about its pods.
func budgets(tenants []config.Tenant) []wasm.EngineOption {
	compiling, logs := map[string]time.Duration{}, map[string]int{}
	for i := range tenants {
		t := &tenants[i]
		compiling[t.Name], logs[t.Name] = t.CompilePerHour, t.LogBytesPerSecond
	}
	return []wasm.EngineOption{wasm.WithCompileTimes(compiling), wasm.WithLogRates(logs)}
}

// policyConfig is what a plane is made from, here and for a check.
func policyConfig(cfg *config.Config, nodeName string, loader policy.Loader, log *slog.Logger) (policy.Config, error) {
	kinds := map[string]string{}
	for _, s := range cfg.Sources {
		kinds[s.Name] = s.Kind
	}
	operators, err := trust("policy", cfg.Policy.TrustedKeys, cfg.Policy.RequireSignature)
	if err != nil {
		return policy.Config{}, err
	}
	tenants := make([]policy.Tenant, len(cfg.Tenants))
	for i, t := range cfg.Tenants {
		theirs, err := trust("tenant "+t.Name, t.TrustedKeys, t.RequireSignature)
		if err != nil {
			return policy.Config{}, err
		}
		tenants[i] = policy.Tenant{Name: t.Name, Dir: t.PolicyDir, Trust: theirs, MaxSuppress: t.MaxSuppress, FuelPerSecond: t.FuelPerSecond, PolicyMemory: t.PolicyMemory, Owns: func(namespace string) bool {
			return slices.ContainsFunc(t.Namespaces, func(pattern string) bool { return pod.MatchNamespace(pattern, namespace) })
		}}
	}
	return policy.Config{
		Dir: cfg.Policy.Dir, Trust: operators, Tenants: tenants, AllowUnpinned: cfg.Policy.AllowUnpinned, ModuleBytes: cfg.Policy.ModuleBytes,
		Sources: sourceNames(cfg), MaxSuppress: cfg.Policy.MaxSuppress, Exempt: cfg.Policy.Exempt, DenyAtOnce: !cfg.Policy.DenyPacing, MutateAPI: cfg.Policy.MutateAPI, DefaultVerdict: api.Answer(cfg.Policy.DefaultVerdict), Kinds: kinds, Node: nodeName,
		Loader: loader, Logger: log, Now: time.Now, ClockSynchronized: node.ClockSynchronized,
	}, nil
}

// trust is what a table of agent.toml says of signatures.
func trust(table string, keys []string, required bool) (policy.Trust, error) {
	t := policy.Trust{Required: required}
	for _, text := range keys {
		key, err := signed.ParseKey(text)
		if err != nil {
			return t, fmt.Errorf("%s: trusted_keys: %w", table, err)
		}
		t.Keys = append(t.Keys, key)
	}
	return t, nil
}

// knownPods are the pods of the runtime and of the workers.
type knownPods struct {
	*pleg.Cache
	*worker.Pool
}
