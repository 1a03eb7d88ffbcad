package wasm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/wardlet/wardlet/core/policy/wasm/compile"
	"github.com/wardlet/wardlet/core/policy/wasm/verify"
)

// Engine loads plugins. It may be used from any goroutine.
type Engine struct {
	cache    *compile.Cache
	runtime  wazero.Runtime
	library  *compile.Library
	accepted *acceptedFiles
	caps     verify.Caps
	log      *slog.Logger
	// shares bounds what all plugins together may log about the pods of each
	// tenant.
	shares *logShares
	stays  *Stays
	storms stormCounts
	// plugins is the number of open plugins.
	plugins atomic.Int64
}

// EngineOption changes how an engine works.
type EngineOption func(*engineOptions)

type engineOptions struct {
	caps    verify.Caps
	compile compile.Options
	stays   *Stays
	// logBytes is the limit in bytes a second, by tenant.
	logBytes map[string]int
}

// WithCaps sets bounds for the size and shape of modules that differ from
// verify.Default.
func WithCaps(caps verify.Caps) EngineOption {
	return func(o *engineOptions) { o.caps = caps }
}

// WithCompiling sets the limits of compilation and its priority.
func WithCompiling(limits compile.Limits, priority compile.Priority) EngineOption {
	return func(o *engineOptions) { o.compile.Limits, o.compile.Priority = limits, priority }
}

// WithCompileTimes bounds the processor time that compiling the plugins of each
// tenant may use in an hour. A tenant that is not in the map has no bound.
func WithCompileTimes(perHour map[string]time.Duration) EngineOption {
	return func(o *engineOptions) { o.compile.PerHour = perHour }
}

// WithLogRates bounds how many bytes a second all plugins together, of any owner,
// may log about the pods of each tenant. For a tenant that is not in the map, only
// the limit of each plugin applies.
func WithLogRates(perSecond map[string]int) EngineOption {
	return func(o *engineOptions) { o.logBytes = perSecond }
}

// WithInterpreter makes the engine interpret plugins. Without this option plugins
// are interpreted only if wazero has no compiler: on architectures other than amd64
// and arm64, and if the system does not allow executable memory. Interpreted
// plugins return the same and use the same fuel, but take many times as long.
func WithInterpreter() EngineOption {
	return func(o *engineOptions) { o.compile.Interpreted = true }
}

// Child compiles a module if this process was started for that, and reports in
// isChild whether it was. status is then the exit status. Every program that makes
// an engine must call Child before anything else.
func Child() (status int, isChild bool) { return compile.Child(runtimeConfig) }

// runtimeConfig returns the configuration with which modules are compiled and run.
// All plugins share the runtime, so it does not bound the memory of a plugin.
func runtimeConfig(interpreted bool) wazero.RuntimeConfig {
	config := wazero.NewRuntimeConfig()
	if interpreted {
		config = wazero.NewRuntimeConfigInterpreter()
	}
	return config.WithDebugInfoEnabled(false)
}

// NewEngine makes an engine that keeps compiled code in cacheDir. It makes the
// directory if that is missing. The directory must belong to this process's user,
// and no other user may access it; otherwise NewEngine fails. What plugins log is
// written to logger, with the name of the policy. The caller must close the engine.
func NewEngine(cacheDir string, logger *slog.Logger, options ...EngineOption) (*Engine, error) {
	if err := rememberVersion(); err != nil {
		return nil, err
	}
	o := engineOptions{caps: verify.Default()}
	for _, option := range options {
		option(&o)
	}
	o.compile.Config, o.compile.Log = runtimeConfig, logger
	cache, err := compile.Open(cacheDir, o.compile)
	if err != nil {
		return nil, fmt.Errorf("directory of compiled plugins %s: %w", cacheDir, err)
	}
	ctx := context.Background()
	e := &Engine{cache: cache, runtime: wazero.NewRuntimeWithConfig(ctx, cache.RuntimeConfig()), caps: o.caps, log: logger}
	if err := offer(ctx, e.runtime); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	e.library = compile.NewLibrary(cache, e.runtime)
	e.stays = o.stays
	e.shares = &logShares{perSecond: o.logBytes}
	e.accepted = newAcceptedFiles(cacheDir, o.caps, logger)
	return e, nil
}

// Close releases the engine. All its plugins must be closed before; otherwise Close
// returns an error and releases nothing.
func (e *Engine) Close() error {
	if n := e.plugins.Load(); n > 0 {
		return fmt.Errorf("%d plugins are still in use", n)
	}
	return errors.Join(e.runtime.Close(context.Background()), e.cache.Close())
}

// rememberVersion makes wazero find out its own version, which wazero stores in a
// variable without a lock.
var rememberVersion = sync.OnceValue(func() error {
	return wazero.NewRuntime(context.Background()).Close(context.Background())
})
