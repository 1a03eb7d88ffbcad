package wasm

import "slices"

// fetched is what a hook has fetched of the question in addition to its record.
type fetched struct {
	// fields has a bit for each handle. There are at most maxPaths handles.
	fields uint64
	// documents has a bit for each number below documentCandidates. candidates
	// reports whether documents with other numbers were fetched.
	documents  uint64
	candidates bool
}

func (f *fetched) field(handle uint32) { f.fields |= 1 << (handle % maxPaths) }

func (f *fetched) document(number uint32) {
	if number < documentCandidates {
		f.documents |= 1 << number
	} else {
		f.candidates = true
	}
}

// documentNames are the names of documents in paths.
var documentNames = [...]string{
	documentRequest: "request", documentObject: "object", documentOldObject: "oldObject", documentNode: "node",
}

// reads returns the paths that the guest got. If it fetched nothing, they are those
// of the record. The slice is shared: the caller must not change it.
func (c *call) reads() []string {
	if c.wants == nil {
		return nil
	}
	if c.fetched == (fetched{}) {
		return c.wants.handed
	}
	if c.fetched == c.pathsOf {
		return c.paths
	}
	paths := slices.Clone(c.wants.handed)
	for handle := range c.wants.fields {
		if f := &c.wants.fields[handle]; f.lazy && c.fetched.fields&(1<<handle) != 0 {
			paths = append(paths, f.path)
		}
	}
	for number, name := range documentNames {
		if c.fetched.documents&(1<<number) != 0 {
			paths = append(paths, name)
		}
	}
	if c.fetched.candidates {
		paths = append(paths, "candidates[*].object")
	}
	c.paths, c.pathsOf = paths, c.fetched
	return paths
}
