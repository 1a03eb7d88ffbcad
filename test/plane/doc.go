// Package plane tests the promises of the decision plane under load. The parts that
// make decisions are real, in one process: directories of policies on a disk,
// WebAssembly plugins in their sandbox, the plane, the mux that asks it and a
// state directory. A test source adds and removes pods, and a
// reader of the stream stands in for the sync loop.
//
// The storm rewrites the operator's directory again and again while pods come and
// go. The isolation tests let one tenant attack while another one works.
//
// The package has no inputs except the directories that the tests write, and no
// outputs. Each test starts the goroutines it needs and waits for them. The tests do not
// run in parallel, because they measure the resources of the process.
//
// The test of latency is a measurement and runs only with -timed, which make
// bench-isolation sets.
package plane
