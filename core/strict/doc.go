// Package strict decodes TOML documents that people write: the configuration and policy documents.
// Unknown keys are errors, and every error has file and line.
//
// Comes in: the bytes of a document and a struct with toml tags. Goes out: the filled struct, or
// all faults of the document, ordered by line. The package owns no goroutine and imports nothing of
// core. It never panics, whatever the document contains.
package strict
