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
	// shares are what plugins may log about the pods of each tenant.
	shares *logShares
	stays  *Stays
	storms stormCounts
	// plugins counts those that are open.
	plugins atomic.Int64
}

// EngineOption changes how an engine works.
type EngineOption func(*engineOptions)

type engineOptions struct {
	caps    verify.Caps
	compile compile.Options
	stays   *Stays
	// logBytes are bytes a second by tenant.
	logBytes map[string]int
}

// WithCaps bounds the size and shape of modules otherwise than verify.Default.
func WithCaps(caps verify.Caps) EngineOption {
	return func(o *engineOptions) { o.caps = caps }
}

// WithCompiling sets other limits of compilation than the default, and its priority.
func WithCompiling(limits compile.Limits, priority compile.Priority) EngineOption {
	return func(o *engineOptions) { o.compile.Limits, o.compile.Priority = limits, priority }
}

// WithCompileTimes bounds what compiling the plugins of each tenant may take of a
// processor in an hour; for tenants that are not in it nothing is bounded.
func WithCompileTimes(perHour map[string]time.Duration) EngineOption {
	return func(o *engineOptions) { o.compile.PerHour = perHour }
}

// WithLogRates bounds how many bytes a second all plugins together, of any owner,
// may log about the pods of each tenant. For tenants that are not in it only each
// plugin is bounded.
func WithLogRates(perSecond map[string]int) EngineOption {
	return func(o *engineOptions) { o.logBytes = perSecond }
}

// WithInterpreter has plugins interpreted. Without it they are interpreted only if
// wazero has no compiler: on other architectures than amd64 and arm64, and where
// the system does not allow executable memory. They return the same and use the
// same fuel, but take many times as long.
func WithInterpreter() EngineOption {
	return func(o *engineOptions) { o.compile.Interpreted = true }
}

// Child compiles a module and ends, if this process was started for that:
// isChild says so, and status is what to exit with. It must be called first
// thing by every program that makes an engine.
func Child() (status int, isChild bool) { return compile.Child(runtimeConfig) }

// runtimeConfig is what modules are compiled and run with. How much memory a
// plugin may have is not the runtime's matter, which all plugins share.
func runtimeConfig(interpreted bool) wazero.RuntimeConfig {
	config := wazero.NewRuntimeConfig()
	if interpreted {
		config = wazero.NewRuntimeConfigInterpreter()
	}
	return config.WithDebugInfoEnabled(false)
}

// NewEngine makes an engine that keeps compiled code in cacheDir. The
// directory is made if it is missing. It is refused unless it belongs to this
// process's user and no other user may access it. What plugins log goes to
// logger, with the name of the policy. The engine must be closed.
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

// Close releases what the engine holds. All its plugins must be closed
// before: otherwise it is an error, and nothing is given back.
func (e *Engine) Close() error {
	if n := e.plugins.Load(); n > 0 {
		return fmt.Errorf("%d plugins are still in use", n)
	}
	return errors.Join(e.runtime.Close(context.Background()), e.cache.Close())
}

// rememberVersion has wazero find out its own version, which it keeps in a
// variable without a lock.
var rememberVersion = sync.OnceValue(func() error {
	return wazero.NewRuntime(context.Background()).Close(context.Background())
})
