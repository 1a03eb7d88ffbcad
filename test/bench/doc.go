// Command bench measures everything for which the product has limits, in the same run as the
// programs it is compared with, and reports which limits are missed.
//
// Comes in: the source tree that contains it. Goes out: a table, build/bench.json (the file of the
// previous run becomes bench.json.before), and an exit status other than 0 if a limit is missed. It
// is one goroutine; the measurements run in processes that it starts one after the other and waits
// for.
//
// Each bench of the list in main.go reports its figures after each of its rounds, and they are
// written then, so that an interrupt loses only the current round. A figure is the median of the
// rounds so far. A ratio is computed within each round first, so that a machine that is busy for a
// while slows both sides. By default there are as many rounds as fit into 25 minutes.
package main
