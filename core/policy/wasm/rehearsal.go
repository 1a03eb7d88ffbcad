package wasm

import "context"

// rehearsal marks a context for calls about pods that do not exist. Instances that
// such calls break are not charged to any tenant, and such calls get short slices.
type rehearsal struct {
	// silent: nothing that the plugin logs is logged.
	silent bool
}

type rehearsalKey struct{}

// Rehearse returns a context for calls about pods that do not exist. What plugins
// log in these calls is logged.
func Rehearse(ctx context.Context) context.Context { return rehearsal{}.in(ctx) }

func (r rehearsal) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, rehearsalKey{}, r)
}

// rehearses reports whether a call is a rehearsal. silences reports whether nothing
// of the call is logged.
func rehearses(ctx context.Context) bool {
	_, ok := ctx.Value(rehearsalKey{}).(rehearsal)
	return ok
}

func silences(ctx context.Context) bool {
	r, _ := ctx.Value(rehearsalKey{}).(rehearsal)
	return r.silent
}

// noTenant is the tenant of an instance whose last call was a rehearsal. No tenant
// can have this name.
const noTenant = "\x00"
