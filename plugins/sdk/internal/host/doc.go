// Package host calls the functions that the agent offers to plugins: the
// imports of the ABI.
//
// Comes in: Go strings and slices. Goes out: what the agent answered. In a
// guest (GOOS=wasip1) the calls leave the module; the agent does not call back
// while one is under way, so nothing that is handed over can move or be
// collected meanwhile. Everywhere else they go to the Host that a test put in
// place. The package owns no goroutine; calls come from one at a time.
package host
