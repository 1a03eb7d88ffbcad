// Package worst makes modules that are as expensive as possible to read, verify and meter for their
// size.
//
// All, the list of families, has one function for each idea, which is a large number of one element
// of modules. Each function returns a module whose size grows with the requested part of what the
// caps allow, so that a test can compare the time per byte at two sizes. The package is for tests
// and benches only and owns no goroutine.
package worst
