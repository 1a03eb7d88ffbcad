package condition

// MaxCost is what a condition may cost each time it is asked, in units of
// about 100 ns.
const MaxCost = 10_000

const (
	// MaxBytes bounds the text of an expression.
	MaxBytes = 4 << 10
	// maxDepth bounds the parts of an expression within each other.
	maxDepth = 64
	// maxEstimate bounds what an expression may cost at most if every list and
	// map has typicalEntries and every text typicalText characters.
	maxEstimate    = 1_000_000
	typicalEntries = 64
	typicalText    = 256

	// maxText bounds the texts of a pod that an expression reads, in bytes.
	maxText = 64 << 10
	// maxPattern bounds the text of a regular expression, and maxProgram the
	// instructions that come of it.
	maxPattern = 256
	maxProgram = 256
	// maxQuantity bounds the text that quantity takes.
	maxQuantity = 32

	// maxFault bounds the text of an error, and maxShown what it shows of the
	// expression.
	maxFault = 400
	maxShown = 120
)
