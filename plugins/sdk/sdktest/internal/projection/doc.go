// Package projection makes the record that the agent would write for a plugin: the values
// of the declared paths. The pod is checked JSON.
//
// Comes in: paths, and a Question. Goes out: the record's bytes, by the rules of the ABI;
// testdata/projection.json has test cases for authors of hosts. The package starts no
// goroutine. A Projection may be used by one goroutine at a time.
package projection
