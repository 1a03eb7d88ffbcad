package simulation

import "slices"

// minimise leaves steps out of a script as long as it still fails, in larger pieces
// first, until it has been tried budget times.
func minimise(s *script, budget int, fails func(*script) bool) *script {
	for piece := len(s.steps) / 2; piece > 0; {
		left := false
		for at := len(s.steps) - piece; at >= 0 && budget > 0; at -= piece {
			shorter := *s
			shorter.steps = slices.Delete(slices.Clone(s.steps), at, at+piece)
			budget--
			if fails(&shorter) {
				s, left = &shorter, true
			}
		}
		if !left {
			piece /= 2
		} else {
			piece = min(piece, len(s.steps)/2)
		}
		if budget <= 0 {
			break
		}
	}
	return s
}
