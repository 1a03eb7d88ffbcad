//go:build !race

package compile

// slow is true if the race detector slows children down.
const slow = false
