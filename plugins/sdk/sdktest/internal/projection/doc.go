// Package projection makes the record that the agent would write for a
// plugin: the values of the paths it declared, of a pod given as checked JSON.
//
// Comes in: paths, and a Question. Goes out: the record's bytes, by the rules
// of the ABI; testdata/projection.json holds cases of them for authors of
// hosts. The package owns no goroutine; a Projection is used by one at a time.
package projection
