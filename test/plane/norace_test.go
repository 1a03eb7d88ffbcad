//go:build !race

package plane

// raced says that the race detector makes everything slower.
const raced = false
