//go:build !race

package compile

// slow says whether the race detector slows children down.
const slow = false
