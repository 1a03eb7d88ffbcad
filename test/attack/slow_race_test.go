//go:build race

package attack

const (
	// slowdown is how much slower the race detector makes what the host does.
	slowdown = 20
	// interpretedPart is the part of its fuel that a module gets on the interpreter
	// which is to use up all: with the race detector all of it takes minutes.
	interpretedPart = 20
)
