// Command bench measures what the product's limits are about, each beside what
// it is compared with and in the same run, and says which limits are missed.
//
// Comes in: the tree it stands in. Goes out: a table, build/bench.json, and an
// exit status that is not 0 when a limit is missed. It is one goroutine; what
// it measures runs in processes that it starts one after the other and waits
// for.
//
// Each bench of the list in main.go gives figures. A figure is the median of
// several rounds; a ratio is made in each round before that, so that a machine
// that is busy for a while slows both sides.
package main
