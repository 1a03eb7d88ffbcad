package parts

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/rollout"
	"github.com/wardlet/wardlet/core/policy/signed"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/verify"
)

// compiledDir is the directory of compiled plugins in the state directory.
const compiledDir = "compiled"

// Engine creates the plugin sandbox for a configuration, with its compiled code below dir.
func Engine(dir string, p *config.Policy, log *slog.Logger, more ...wasm.EngineOption) (*wasm.Engine, error) {
	return wasm.NewEngine(filepath.Join(dir, compiledDir), log, append(more, wasm.WithCaps(ModuleCaps(p)))...)
}

// Budgets limit the compilation of each tenant's plugins, and the log of plugins about its pods.
func Budgets(tenants []config.Tenant) []wasm.EngineOption {
	compiling, logs := map[string]time.Duration{}, map[string]int{}
	for i := range tenants {
		t := &tenants[i]
		compiling[t.Name], logs[t.Name] = t.CompilePerHour, t.LogBytesPerSecond
	}
	return []wasm.EngineOption{wasm.WithCompileTimes(compiling), wasm.WithLogRates(logs)}
}

// PolicySet returns the options for loading the operator's policies on a node with that name.
func PolicySet(cfg *config.Config, nodeName string, loader eval.Loader, log *slog.Logger) (rollout.Options, error) {
	trust, err := OperatorTrust(cfg)
	return rollout.Options{
		Options: bundle.Options{Dir: cfg.Policy.Dir, Awaited: AwaitedPolicies(cfg), Trust: trust, AllowUnpinned: cfg.Policy.AllowUnpinned, ModuleBytes: cfg.Policy.ModuleBytes},
		Node:    nodeName, Loader: loader, Logger: log, Now: time.Now,
	}, err
}

// AwaitedPolicies names what fills the directory of the operator's policies if no person does, empty if
// one does.
func AwaitedPolicies(cfg *config.Config) string {
	if !cfg.UsesClusterSet() {
		return ""
	}
	return "the ConfigMap " + cfg.Policy.ClusterSet
}

// OperatorTrust returns the keys whose signature the operator's set must have. An error names the
// table of agent.toml.
func OperatorTrust(cfg *config.Config) (bundle.Trust, error) {
	return trust("policy", cfg.Policy.TrustedKeys, cfg.Policy.RequireSignature)
}

// TenantTrust returns the keys whose signature a tenant's set must have.
func TenantTrust(t *config.Tenant) (bundle.Trust, error) {
	return trust("tenant "+t.Name, t.TrustedKeys, t.RequireSignature)
}

// trust returns the signature settings of a table in agent.toml.
func trust(table string, keys []string, required bool) (bundle.Trust, error) {
	t := bundle.Trust{Required: required}
	for _, text := range keys {
		key, err := signed.ParseKey(text)
		if err != nil {
			return t, fmt.Errorf("%s: trusted_keys: %w", table, err)
		}
		t.Keys = append(t.Keys, key)
	}
	return t, nil
}

// ModuleCaps returns limits on the size and shape of plugins. The operator configures the length of
// a module and its code. With fuel counters, the code may grow by the same factor as by default, to
// 8/3; plugins in C and Go grow to 4/3.
func ModuleCaps(p *config.Policy) verify.Caps {
	caps := verify.Default()
	caps.Metered = int(int64(caps.Metered) * int64(p.CodeBytes) / int64(caps.Code))
	caps.Module, caps.Code = p.ModuleBytes, p.CodeBytes
	return caps
}

// WithPolicies calls do with the options for loading a directory of policies. It uses an engine of
// its own, which it closes when do returns.
func WithPolicies(cfg *config.Config, node, dir string, do func(rollout.Options) error) error {
	return WithEngine(cfg, func(engine *wasm.Engine) error {
		o, err := PolicySet(cfg, node, eval.Sandbox(engine), slog.New(slog.DiscardHandler))
		if err != nil {
			return err
		}
		for i := range cfg.Tenants {
			theirs, err := TenantTrust(&cfg.Tenants[i])
			if err != nil {
				return err
			}
			if cfg.Tenants[i].PolicyDir == dir {
				o.Trust = theirs
			}
		}
		o.Dir = dir
		return do(o)
	})
}

// WithEngine calls do with an engine of its own, whose compiled code it removes when do returns.
func WithEngine(cfg *config.Config, do func(*wasm.Engine) error, options ...wasm.EngineOption) error {
	temp, err := os.MkdirTemp("", "wardlet-check-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	engine, err := Engine(temp, &cfg.Policy, slog.New(slog.DiscardHandler), options...)
	if err != nil {
		return err
	}
	return errors.Join(do(engine), engine.Close())
}

// Child does the work of a process that the agent has started to compile a plugin. isChild reports
// whether this process is one, and status is its exit code. Every program that makes an Agent, or
// checks a configuration, must call Child before anything else.
func Child() (status int, isChild bool) { return wasm.Child() }
