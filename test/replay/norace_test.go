//go:build !race

package replay

// decisions is how many are made.
const decisions = 10_000
