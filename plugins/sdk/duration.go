package sdk

// Duration is a length of time in milliseconds.
type Duration int64

// Lengths of time.
const (
	Millisecond Duration = 1
	Second               = 1000 * Millisecond
	Minute               = 60 * Second
	Hour                 = 60 * Minute
)
