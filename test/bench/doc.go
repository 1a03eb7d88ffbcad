// Command bench measures what the product's limits are about, each beside what
// it is compared with and in the same run, and says which limits are missed.
//
// Comes in: the tree it stands in. Goes out: a table, build/bench.json (the one
// of the run before becomes bench.json.before), and an exit status that is not 0
// when a limit is missed. It is one goroutine; what
// it measures runs in processes that it starts one after the other and waits
// for.
//
// Each bench of the list in main.go reports its figures after each of its rounds,
// and they are written then: an interrupt costs the round that it falls into. A
// figure is the median of the rounds so far; a ratio is made in each round before
// that, so that a machine that is busy for a while slows both sides. By default
// there are as many rounds as fit into 25 minutes.
package main
