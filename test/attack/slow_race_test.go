//go:build race

package attack

// slowdown is how much slower the race detector makes what the host does.
const slowdown = 20
