//go:build !race

package attack

const (
	slowdown        = 1
	interpretedPart = 1
)
