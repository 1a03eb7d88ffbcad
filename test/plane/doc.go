// Package plane proves what the decision plane promises under load. What makes
// decisions is the real thing, in one process: directories of policies on a disk,
// plugins of WebAssembly in their sandbox, the plane, the mux that asks it and a
// state directory. A source of the tests' own makes pods come and go, and a
// reader of the stream stands for the sync loop.
//
// The storm rewrites the operator's directory again and again while pods come and
// go. The isolation tests let one tenant do its worst beside another.
//
// Comes in: nothing but the directories that the tests write. Goes out: nothing.
// Each test starts the goroutines it needs and waits for them; the tests do not
// run beside each other, for they look at what the process holds.
//
// The test of time is a measurement and runs only with -timed, as make
// bench-isolation has it.
package plane
