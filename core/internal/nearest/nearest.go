// Package nearest finds the known word that a mistyped word may mean.
package nearest

import (
	"slices"
	"strings"
)

// Word returns the known word most similar to unknown, the first by name if there are several. They
// may differ in two letters, or in a third of unknown's letters. Case, dashes and underscores are
// ignored. ok is false if no word is similar.
func Word(unknown string, known []string) (best string, ok bool) {
	plain := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "-", "_") }
	limit := max(2, len(unknown)/3) + 1
	for _, k := range slices.Sorted(slices.Values(known)) {
		if d := distance(plain(unknown), plain(k)); d < limit && d < len(k) {
			best, limit, ok = k, d, true
		}
	}
	return best, ok
}

// distance returns the number of letters to insert, remove, replace or swap with a neighbor to
// change a to b. Strings much longer than a word have a large distance.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return max(len(a), len(b))
	}
	var rows [3][65]int
	for j := range len(b) + 1 {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		row, above, twoAbove := &rows[i%3], &rows[(i+2)%3], &rows[(i+1)%3]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			same := 1
			if a[i-1] == b[j-1] {
				same = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+same)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], twoAbove[j-2]+1)
			}
		}
	}
	return rows[len(a)%3][len(b)]
}
