//go:build race

package attack

// slowdown is the factor by which the race detector slows the host down.
const slowdown = 20
