package wasm

import (
	"context"
	"crypto/sha256"
	"slices"

	"github.com/wardlet/wardlet/core/policy/wasm/compile"
	"github.com/wardlet/wardlet/core/policy/wasm/meter"
	"github.com/wardlet/wardlet/core/policy/wasm/module"
)

// accepted is what is known of a module that was verified and rewritten, and
// what a policy may ask of it that another one did not.
type accepted struct {
	// Metered is the digest of the module as it is compiled. Globals are the names
	// of its own mutable numeric globals.
	Metered compile.Digest `json:"metered"`
	Globals []string       `json:"globals"`
	// Hooks are those it exports, sorted. Pages is what its memory begins with.
	Hooks []string `json:"hooks"`
	Pages uint64   `json:"pages"`
}

// serves says whether a policy may have it: verification would not refuse it.
func (a *accepted) serves(o *Options) bool {
	missing := func(hook string) bool { return !slices.Contains(a.Hooks, hook) }
	return !slices.ContainsFunc(o.Hooks, missing) && a.Pages <= uint64(o.MemoryPages)
}

// accept verifies a module, unless that was done before, and returns it as it is
// compiled. A module that was verified before is rewritten only when the source
// is read.
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

// rewrite verifies and rewrites a module, and keeps what there is to know. The
// error is a *Failure, or why ctx ended.
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
