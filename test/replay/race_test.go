//go:build race

package replay

// decisions is how many are made: the race detector is for races, and gets less.
const decisions = 1_000
