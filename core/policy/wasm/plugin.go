package wasm

import (
	"crypto/sha256"
	"sync"
	"sync/atomic"

	"github.com/wardlet/wardlet/core/policy/wasm/compile"
)

// Plugin is a loaded module. Its methods may be called from any goroutine.
// Calls run at the same time, each in an instance of its own, as many as the
// pool allows.
type Plugin struct {
	engine      *Engine
	name, node  string
	settings    settings
	log         *pluginLog
	memoryPages uint32
	fuel        int64
	outputBytes int
	// globals are the names that the module's mutable globals are exported by.
	globals []string
	seed    [sha256.Size]byte
	// loadFuel is what initialising the plugin took.
	loadFuel int64
	// may are the policy's capabilities.
	may capabilities

	code *compile.Code
	// image is what instances begin from.
	image      image
	pool       pool
	rebuilding rebuilding
	// storms counts the calls that were trusted for nothing, see trust.go. Plugins of
	// one module and owner share it.
	storms *atomic.Int64
	// longest is what a trusted instance gets at once at most.
	longest int64
	once    sync.Once
}

// Rest releases what calls have not needed since the last Rest: instances that
// were not in use at once, and, where there was no call, the memory that earlier
// ones have written, and the pages of machine code. It is for every 10 s or so.
func (p *Plugin) Rest() { p.code.Rest(p.rest(&p.pool.idle)) }

// Close waits for the calls under way and frees what the plugin holds. Machine
// code goes with the next garbage collections.
func (p *Plugin) Close() error {
	p.once.Do(func() {
		p.pool.drain()
		p.image.release()
		p.code.Release()
		p.engine.plugins.Add(-1)
	})
	return nil
}
