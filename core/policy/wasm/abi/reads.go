package abi

import "slices"

// Fetched is what a hook has fetched of the question in addition to its record.
type Fetched struct {
	// fields has a bit for each handle. There are at most MaxPaths handles.
	fields uint64
	// documents has a bit for each number below documentCandidates. candidates
	// reports whether documents with other numbers were fetched.
	documents  uint64
	candidates bool
}

// Field records that the field with a handle was fetched.
func (f *Fetched) Field(handle uint32) { f.fields |= 1 << (handle % MaxPaths) }

// Document records that the document with a number was fetched.
func (f *Fetched) Document(number uint32) {
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

// Reads returns the paths of the record and of what was fetched in addition. If
// nothing was fetched, the slice is shared: the caller must not change it.
func (p *Projection) Reads(f *Fetched) []string {
	if *f == (Fetched{}) {
		return p.handed
	}
	paths := slices.Clone(p.handed)
	for handle := range p.fields {
		if d := &p.fields[handle]; d.lazy && f.fields&(1<<handle) != 0 {
			paths = append(paths, d.path)
		}
	}
	for number, name := range documentNames {
		if f.documents&(1<<number) != 0 {
			paths = append(paths, name)
		}
	}
	if f.candidates {
		paths = append(paths, "candidates[*].object")
	}
	return paths
}
