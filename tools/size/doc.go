// Command size measures what an agent costs a node and compares it with the limits in limits.go; `make size` runs it as
// root, from the repository's root.
//
// Its input is the sources, the built agent and the built policies. Its output is a table: the
// binary for every architecture, the modules and packages in it, and the memory of an idle agent on
// a private container runtime. The exit status is 0 if every limit is kept, and 1 otherwise. The
// main goroutine does everything.
package main
