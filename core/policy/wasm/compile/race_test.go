//go:build race

package compile

// slow: the race detector takes eight times the processor time, and twice the
// memory.
const slow = true
