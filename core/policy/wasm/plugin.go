package wasm

import (
	"crypto/sha256"
	"sync"
	"sync/atomic"

	"github.com/wardlet/wardlet/core/policy/wasm/compile"
)

// Plugin is a loaded module. Its methods are safe for concurrent use. Calls run
// concurrently, each in an instance of its own, as far as the pool has instances.
type Plugin struct {
	engine      *Engine
	name, node  string
	settings    settings
	log         *pluginLog
	memoryPages uint32
	fuel        int64
	outputBytes int
	// globals are the names by which the module's mutable globals are exported.
	globals []string
	seed    [sha256.Size]byte
	// loadFuel is the fuel that initialising the plugin used.
	loadFuel int64
	// may are the policy's capabilities.
	may capabilities

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

// Rest releases what calls have not needed since the last Rest: instances beyond
// those that were in use at once, and, if there was no call, the memory that
// earlier calls have written and the pages of machine code. It is to be called
// about every 10 s.
func (p *Plugin) Rest() { p.code.Rest(p.rest(&p.pool.idle)) }

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
