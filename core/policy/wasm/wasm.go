package wasm

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/accepted"
	"github.com/wardlet/wardlet/core/policy/wasm/compile"
	"github.com/wardlet/wardlet/core/policy/wasm/pluginlog"
	"github.com/wardlet/wardlet/core/policy/wasm/verify"
)

// Engine loads plugins. It may be used from any goroutine.
type Engine struct {
	cache    *compile.Cache
	runtime  wazero.Runtime
	library  *compile.Library
	accepted *accepted.Files
	caps     verify.Caps
	log      *slog.Logger
	// shares bounds what all plugins together may log about the pods of each
	// tenant.
	shares *pluginlog.Shares
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
	e.shares = &pluginlog.Shares{PerSecond: o.logBytes}
	e.accepted = accepted.New(cacheDir, o.caps, logger)
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

// Plugin is a loaded module. Its methods are safe for concurrent use. Calls run
// concurrently, each in an instance of its own, as far as the pool has instances.
type Plugin struct {
	engine      *Engine
	name, node  string
	settings    abi.Settings
	log         *pluginlog.Log
	memoryPages uint32
	fuel        int64
	outputBytes int
	// globals are the names by which the module's mutable globals are exported.
	globals []string
	seed    [sha256.Size]byte
	// loadFuel is the fuel that initialising the plugin used.
	loadFuel int64
	// may are the policy's capabilities.
	may abi.CapabilitySet

	code *compile.Code
	// image is the state that instances begin with.
	image      image
	pool       pool
	rebuilding rebuilding
	// storms counts the calls of trusted instances that touched too many pages, see
	// trust.go. Plugins of the same module and owner share it.
	storms *atomic.Int64
	// longest is the most fuel that a trusted instance gets at once.
	longest int64
	once    sync.Once
}

// Trim releases what calls have not needed since the last Trim: instances beyond
// those that were in use at once, and, if there was no call, the memory that
// earlier calls have written and the pages of machine code. It is to be called
// about every 10 s.
func (p *Plugin) Trim() { p.code.Trim(p.rest(&p.pool.idle)) }

// Close waits for the running calls and frees the plugin. The garbage collector
// frees its machine code later.
func (p *Plugin) Close() error {
	p.once.Do(func() {
		p.pool.drain()
		p.image.release()
		p.code.Release()
		p.engine.plugins.Add(-1)
	})
	return nil
}
