// Package record reads and writes the values that the agent and a plugin
// exchange: records of fields, and settings.
//
// Comes in: bytes as the ABI lays them out, or Go values. Goes out: Values,
// checked whole before anything reads them, or the bytes. The package owns no
// goroutine and no state. A guest links the reading half only, so that half
// imports nothing large.
package record
