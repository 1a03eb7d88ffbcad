package policy

import (
	"crypto/sha256"
)

// maxWeighed is how many questions a comparison remembers, by a digest and a flag: some
// hundred kilobytes for a candidate. Once there are as many, a further one counts whenever
// it is asked.
const maxWeighed = 4096

// weighed are the questions that count in a comparison, and whether the candidate said
// something else in one: a pod that is held is asked about again and again, and is one
// decision.
type weighed map[[sha256.Size]byte]bool

// weigh takes a question in, and gives whether it is one decision more, and one difference
// more.
func (w weighed) weigh(question [sha256.Size]byte, different bool) (more, moreDifferent bool) {
	was, known := w[question]
	if known || len(w) < maxWeighed {
		w[question] = was || different
	}
	return !known, different && !was
}
