// Package record reads and writes the values that the agent and a plugin
// exchange: records of fields, and settings.
//
// Comes in: bytes as the ABI lays them out, or Go values. Goes out: Values, or the bytes.
// The package starts no goroutine and has no state. A guest links only the code for
// reading, so that code imports no large packages.
package record
