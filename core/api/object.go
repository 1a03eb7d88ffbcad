package api

import "cmp"

// Object is the agent's knowledge about an object that pods name, without its values.
type Object struct {
	Kind string `json:"kind"`
	// Namespace is empty for an object of the whole cluster or node.
	Namespace string `json:"namespace,omitempty"`
	// Name is empty for all services of a namespace, and for a document without a name.
	Name string `json:"name,omitempty"`
	// Local is true for an object of the node's own directory.
	Local bool `json:"local"`
	// Document is the Document.ID of a local object.
	Document string `json:"document,omitempty"`
	// Known is false while it is unknown whether the object exists. Found is false if it does not
	// exist.
	Known bool `json:"known"`
	Found bool `json:"found"`
	// Keys are the names of the object's data, sorted. Bytes is the total size of the data.
	Keys  []string `json:"keys,omitempty"`
	Bytes int      `json:"bytes"`
	// Digest identifies the content of the data, as in Reference; empty without data.
	Digest string `json:"digest,omitempty"`
	// UsedBy are the pods that use it, as NAMESPACE/NAME, sorted.
	UsedBy []string `json:"usedBy,omitempty"`
	// Err says why the object is unknown, or why its document is invalid; empty for none. The last
	// valid content stays in force.
	Err string `json:"error,omitempty"`
}

// CompareObjects orders objects for people: by kind, namespace and name, with the cluster's objects
// first.
func CompareObjects(a, b Object) int {
	local := func(o Object) int {
		if o.Local {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), local(a)-local(b), CompareDocuments(a.Document, b.Document))
}
