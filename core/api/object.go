package api

import "cmp"

// Object is what is known of an object that pods name, without its values.
type Object struct {
	Kind string `json:"kind"`
	// Namespace is empty for an object of the whole cluster or node.
	Namespace string `json:"namespace,omitempty"`
	// Name is empty for all services of a namespace, and for a document that does not say its name.
	Name string `json:"name,omitempty"`
	// Local is true for one of the node's own directory.
	Local bool `json:"local"`
	// Document is where a local object stands, as Document.ID.
	Document string `json:"document,omitempty"`
	// Known is false while it is not known whether there is one, Found where there is none.
	Known bool `json:"known"`
	Found bool `json:"found"`
	// Keys are the names of its data, sorted; Bytes is how much they are together.
	Keys  []string `json:"keys,omitempty"`
	Bytes int      `json:"bytes"`
	// Digest tells what its data is from anything else that it may be, as in Reference; empty where there is no data.
	Digest string `json:"digest,omitempty"`
	// UsedBy are the pods that use it, as NAMESPACE/NAME, sorted.
	UsedBy []string `json:"usedBy,omitempty"`
	// Err says why it is not known, or why its document cannot be used; empty for none. What it was before stays in force.
	Err string `json:"error,omitempty"`
}

// CompareObjects orders objects for people: by kind, namespace and name, those of the cluster first.
func CompareObjects(a, b Object) int {
	local := func(o Object) int {
		if o.Local {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), local(a)-local(b), CompareDocuments(a.Document, b.Document))
}
