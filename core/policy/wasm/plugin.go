package wasm

import (
	"context"
	"crypto/sha256"
	"sync"
)

// Plugin is a loaded module. Its methods may be called from any goroutine;
// they run one after the other.
type Plugin struct {
	name, node  string
	settings    settings
	log         *pluginLog
	memoryPages uint32
	outputBytes int
	// globals are the names that the module's mutable globals are exported by.
	globals []string
	seed    [sha256.Size]byte

	mu   sync.Mutex
	code *compiled // nil once the plugin is closed
	// instance is nil where the last one was thrown away.
	instance *instance
	// call is what the host functions work on, nil while the guest rests.
	call *call
	// record, scratch and stack are buffers that calls use again.
	record, scratch []byte
	stack           [1]uint64
}

// Close waits for the call under way and frees what the plugin holds. Machine
// code goes with the next garbage collections.
func (p *Plugin) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.code == nil {
		return nil
	}
	err := p.code.close(context.Background())
	p.code, p.instance = nil, nil
	return err
}

// begin sets up what host functions work on.
func (p *Plugin) begin(ctx context.Context, c *call) {
	c.ctx = ctx
	c.output.left = p.outputBytes
	p.call = c
}

// finish logs what is left of unfinished lines.
func (p *Plugin) finish() {
	p.call.flush(p.log)
	p.call = nil
}

// discard throws the instance away; the next call makes another.
func (p *Plugin) discard(ctx context.Context) {
	if i := p.instance; i != nil {
		p.instance = nil
		p.close(ctx, i)
	}
}

func (p *Plugin) close(ctx context.Context, i *instance) {
	if err := i.module.Close(ctx); err != nil {
		p.log.logger.ErrorContext(ctx, "an instance of a plugin cannot be closed", "error", err)
	}
}
