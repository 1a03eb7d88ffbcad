//go:build !race

package attack

const slowdown = 1
