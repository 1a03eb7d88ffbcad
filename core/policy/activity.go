package policy

import "sync/atomic"

// activity is what one goroutine of the plane is at, so that it can be named
// when it does not come back.
type activity struct{ name atomic.Pointer[string] }

// policy says that the goroutine enters the plugin of a policy.
func (a *activity) policy(name string) { a.name.Store(&name) }

// over says that it came out.
func (a *activity) over() { a.name.Store(nil) }

// current is the policy the goroutine is in, empty for none.
func (a *activity) current() string {
	if name := a.name.Load(); name != nil {
		return *name
	}
	return ""
}
