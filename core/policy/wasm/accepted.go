package wasm

import (
	"slices"

	"github.com/wardlet/wardlet/core/policy/wasm/meter"
	"github.com/wardlet/wardlet/core/policy/wasm/module"
)

// accepted is a module that was verified and rewritten, with what a policy may
// ask of it that another one did not.
type accepted struct {
	meter.Rewritten
	// hooks are those it exports, sorted. pages is what its memory begins with.
	hooks []string
	pages uint64
}

func acceptedOf(m *module.Module, r *meter.Rewritten) *accepted {
	a := &accepted{Rewritten: *r, pages: m.Memories[m.Export("memory").Index].Min}
	for hook, name := range hooks {
		if m.Export(name) != nil {
			a.hooks = append(a.hooks, hook)
		}
	}
	slices.Sort(a.hooks)
	return a
}

// serves says whether a policy may have it: verification would not refuse it.
func (a *accepted) serves(o *Options) bool {
	missing := func(hook string) bool { return !slices.Contains(a.hooks, hook) }
	return !slices.ContainsFunc(o.Hooks, missing) && a.pages <= uint64(o.MemoryPages)
}
