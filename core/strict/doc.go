// Package strict decodes TOML documents that people write: the configuration
// and policy documents. What the schema does not know is an error, and every
// error names file and line.
//
// Comes in: the bytes of a document and a struct with toml tags. Goes out: the
// filled struct, or all faults of the document at once, ordered by line. The
// package owns no goroutine and imports nothing of core; it never panics on
// what a document holds, however hostile.
package strict
