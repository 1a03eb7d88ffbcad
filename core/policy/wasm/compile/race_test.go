//go:build race

package compile

// slow is true if the race detector slows children down: it takes eight times the processor
// time, and twice the memory.
const slow = true
