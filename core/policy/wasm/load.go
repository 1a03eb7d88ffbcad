package wasm

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
)

// Options are what a policy says about its plugin.
type Options struct {
	// Policy is the policy's name, for logs and errors.
	Policy string
	// Hooks are those the policy names; the module must have each.
	Hooks []string
	// Settings are as TOML decodes them: strings, bools, int64, finite
	// float64, times, and lists and tables of them.
	Settings map[string]any
	// MemoryPages is the most memory the plugin gets, in pages of 64 KiB, from
	// 1 to 1024.
	MemoryPages uint32
	// OutputBytes is the most text the plugin may hand over in one call, at
	// least 1.
	OutputBytes int
	// Node is the name of this node.
	Node string
}

// maxMemoryPages is the most that MemoryPages may be.
const maxMemoryPages = 1024

func (o *Options) check() error {
	switch {
	case o.MemoryPages < 1 || o.MemoryPages > maxMemoryPages:
		return fmt.Errorf("memory_pages is %d: it must be 1 to %d", o.MemoryPages, maxMemoryPages)
	case o.OutputBytes < 1:
		return fmt.Errorf("output_bytes is %d: it must be at least 1", o.OutputBytes)
	}
	return nil
}

// Load verifies and compiles a module and initialises the plugin in it. What
// is refused, is refused with a reason; the error is a *Failure where the
// module is at fault. A plugin that loops while it initialises itself is not
// stopped. binary is not kept.
func (e *Engine) Load(ctx context.Context, binary []byte, o Options) (_ *Plugin, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = hostFailed(r)
		}
	}()
	if err := o.check(); err != nil {
		return nil, err
	}
	settings, err := checkedSettings(o.Settings)
	if err != nil {
		return nil, err
	}
	l, err := readLayout(binary)
	if err != nil {
		return nil, &Failure{Code: AbiMismatch, Err: err}
	}
	if err := l.verify(&o); err != nil {
		return nil, err
	}
	module, globals := l.rewrite()
	p := &Plugin{
		name: o.Policy, node: o.Node, settings: settings, log: newPluginLog(e.log, o.Policy),
		memoryPages: o.MemoryPages, outputBytes: o.OutputBytes, globals: globals,
		seed: seed(binary, settings),
	}
	if p.code, err = e.compile(ctx, p, module); err != nil {
		return nil, &Failure{Code: AbiMismatch, Err: fmt.Errorf("the module does not compile: %s", shown(err.Error()))}
	}
	if p.instance, err = p.start(ctx); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// seed is what the random numbers of a plugin come from.
func seed(binary []byte, s settings) [sha256.Size]byte {
	module, table := sha256.Sum256(binary), s.digest()
	return sha256.Sum256(append(module[:], table[:]...))
}
