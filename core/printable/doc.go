// Package printable makes untrusted text safe to show.
//
// Comes in: text that a manifest, a file name, a plugin, a runtime or a server chose. Goes out:
// text for a line, a table cell, JSON, YAML or a writer, in which every character without a visible
// shape is replaced by an escape. The package owns no goroutine and imports nothing of Wardlet.
package printable
