// Package host calls the functions that the agent offers to plugins: the
// imports of the ABI.
//
// Comes in: Go strings and slices. Goes out: what the agent answered. In a guest
// (GOOS=wasip1) the functions of this package call functions of the agent. The agent does
// not call the guest during such a call, so the memory that is passed cannot be moved or
// collected. On other systems the functions call the Host that a test has set with Use. The
// package starts no goroutine. Only one goroutine may call at a time.
package host
