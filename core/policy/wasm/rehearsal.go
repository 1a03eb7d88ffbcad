package wasm

import "context"

// rehearsal is a call about pods that there are not. What it breaks does not count,
// whatever tenant the plugin sees them to be of, and it gets short slices.
type rehearsal struct {
	// silent: nothing of what it says is logged.
	silent bool
}

type rehearsalKey struct{}

// Rehearse has calls with the context be about pods that there are not. What plugins
// log then is logged.
func Rehearse(ctx context.Context) context.Context { return rehearsal{}.in(ctx) }

func (r rehearsal) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, rehearsalKey{}, r)
}

// rehearses says that a call is a rehearsal, and silences that it is one of which
// nothing is logged.
func rehearses(ctx context.Context) bool {
	_, ok := ctx.Value(rehearsalKey{}).(rehearsal)
	return ok
}

func silences(ctx context.Context) bool {
	r, _ := ctx.Value(rehearsalKey{}).(rehearsal)
	return r.silent
}

// noTenant is the tenant of an instance whose last call was a rehearsal. No tenant has a
// name like that.
const noTenant = "\x00"
