// Package printable makes text of strangers safe to show.
//
// Comes in: text that a manifest, a file name, a plugin, a runtime or a server
// chose. Goes out: text for a line, a table cell, JSON, YAML or a writer, in which
// everything without a shape of its own is a visible escape. The package owns no
// goroutine and imports nothing of Wardlet.
package printable
