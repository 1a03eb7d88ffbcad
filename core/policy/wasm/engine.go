package wasm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
)

// Engine loads plugins. It may be used from any goroutine.
type Engine struct {
	cacheDir string
	log      *slog.Logger
	// compiling lets one module compile at a time: each takes tens of MB.
	compiling sync.Mutex
}

// NewEngine makes an engine that keeps compiled code in cacheDir. The
// directory is made if it is missing; it is refused unless it belongs to this
// process's user and to nobody else. What plugins log goes to logger, with the
// name of the policy.
func NewEngine(cacheDir string, logger *slog.Logger) (*Engine, error) {
	if err := ownDir(cacheDir); err != nil {
		return nil, fmt.Errorf("directory of compiled plugins %s: %w", cacheDir, err)
	}
	if err := rememberVersion(); err != nil {
		return nil, err
	}
	return &Engine{cacheDir: cacheDir, log: logger}, nil
}

// rememberVersion has wazero find out its own version, which it keeps in a
// variable without a lock.
var rememberVersion = sync.OnceValue(func() error {
	return wazero.NewRuntime(context.Background()).Close(context.Background())
})

// compiled is a module ready to be instantiated, in a runtime of its own.
type compiled struct {
	runtime wazero.Runtime
	cache   wazero.CompilationCache
	module  wazero.CompiledModule
}

func (c *compiled) close(ctx context.Context) error {
	err := c.runtime.Close(ctx)
	if c.cache != nil {
		err = errors.Join(err, c.cache.Close(ctx))
	}
	return err
}

// compile compiles a module for p. A cache that is broken or full costs the
// time of a compilation, not the plugin.
func (e *Engine) compile(ctx context.Context, p *Plugin, module []byte) (*compiled, error) {
	e.compiling.Lock()
	defer e.compiling.Unlock()
	c, err := e.compileIn(ctx, e.cacheDir, p, module)
	if err == nil || !cacheFault(err) {
		return c, err
	}
	e.log.Warn("the cache of compiled plugins failed; it is emptied", "directory", e.cacheDir, "error", err)
	if err := emptyCache(e.cacheDir); err != nil {
		e.log.Warn("the cache of compiled plugins cannot be emptied", "directory", e.cacheDir, "error", err)
	}
	if c, err = e.compileIn(ctx, e.cacheDir, p, module); err != nil && cacheFault(err) {
		e.log.Warn("a plugin is compiled without the cache", "policy", p.name, "error", err)
		return e.compileIn(ctx, "", p, module)
	}
	return c, err
}

// compileIn compiles a module with the cache in dir, or without one. Runtime
// and cache object belong to this plugin alone: what is shared is files.
func (e *Engine) compileIn(ctx context.Context, dir string, p *Plugin, module []byte) (_ *compiled, err error) {
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(p.memoryPages).WithDebugInfoEnabled(false)
	var c compiled
	if dir != "" {
		if c.cache, err = wazero.NewCompilationCacheWithDir(dir); err != nil {
			return nil, fmt.Errorf("%w: %w", errCache, err)
		}
		config = config.WithCompilationCache(c.cache)
	}
	c.runtime = wazero.NewRuntimeWithConfig(ctx, config)
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close(ctx))
		}
	}()
	if err := p.offer(ctx, c.runtime); err != nil {
		return nil, err
	}
	if c.module, err = c.runtime.CompileModule(experimental.WithCompilationWorkers(ctx, 1), module); err != nil {
		return nil, err
	}
	return &c, nil
}
