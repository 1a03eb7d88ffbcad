package wasm

import (
	"context"
	"crypto/sha256"
	"slices"

	"github.com/wardlet/wardlet/core/policy/wasm/compile"
	"github.com/wardlet/wardlet/core/policy/wasm/meter"
	"github.com/wardlet/wardlet/core/policy/wasm/module"
)

// accepted describes a module that was verified and rewritten. Hooks and Pages are
// checked again for each policy, because policies differ in them.
type accepted struct {
	// Metered is the digest of the module after it was rewritten, as it is
	// compiled. Globals are the names of the module's own mutable numeric globals.
	Metered compile.Digest `json:"metered"`
	Globals []string       `json:"globals"`
	// Hooks are the hooks that the module exports, sorted. Pages is the initial
	// size of its memory.
	Hooks []string `json:"hooks"`
	Pages uint64   `json:"pages"`
}

// serves reports whether a policy with these options may use the module: it has the
// policy's hooks, and its memory is not too large.
func (a *accepted) serves(o *Options) bool {
	missing := func(hook string) bool { return !slices.Contains(a.Hooks, hook) }
	return !slices.ContainsFunc(o.Hooks, missing) && a.Pages <= uint64(o.MemoryPages)
}

// accept verifies a module, unless this program did so before, and returns its
// description and the source to compile. A module that was verified before is
// rewritten only when the source is read.
func (e *Engine) accept(ctx context.Context, binary []byte, sum [sha256.Size]byte, o *Options) (*accepted, compile.Source, error) {
	if a := e.accepted.load(sum); a != nil && a.serves(o) {
		return a, compile.Source{Digest: a.Metered, Module: func() ([]byte, error) {
			_, metered, err := e.rewrite(ctx, binary, sum, o)
			return metered, err
		}}, nil
	}
	a, metered, err := e.rewrite(ctx, binary, sum, o)
	return a, compile.Whole(metered), err
}

// rewrite verifies and rewrites a module, and stores its description. The error is
// a *Failure, or the cause of ctx.
func (e *Engine) rewrite(ctx context.Context, binary []byte, sum [sha256.Size]byte, o *Options) (*accepted, []byte, error) {
	m, err := verified(ctx, binary, e.caps, o)
	if err != nil {
		return nil, nil, err
	}
	r, err := meter.Rewrite(ctx, m, e.caps.Metered)
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, nil, &Failure{Code: AbiMismatch, Err: err}
	}
	a := acceptedOf(m, r)
	e.accepted.store(sum, a)
	return a, r.Binary, nil
}

func acceptedOf(m *module.Module, r *meter.Rewritten) *accepted {
	a := &accepted{
		Metered: sha256.Sum256(r.Binary), Globals: r.Globals,
		Hooks: []string{}, Pages: m.Memories[m.Export("memory").Index].Min,
	}
	for hook, name := range hooks {
		if m.Export(name) != nil {
			a.Hooks = append(a.Hooks, hook)
		}
	}
	slices.Sort(a.Hooks)
	return a
}
