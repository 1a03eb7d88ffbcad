package api

// The kinds of references.
const (
	ConfigMapKind = "ConfigMap"
	SecretKind    = "Secret"
)

// Reference is a ConfigMap or Secret that a pod names, in the form for policies, which never has a
// value. JSON names are those of request.references in docs/abi.md.
type Reference struct {
	// Kind is ConfigMap or Secret.
	Kind string `json:"kind"`
	// Name is the name of the object, in the pod's namespace.
	Name string `json:"name"`
	// Optional is true if the pod also runs without the object: every mention of it is optional.
	Optional bool `json:"optional"`
	// Keys are the names of its data, sorted.
	Keys []string `json:"keys,omitempty"`
	// Digest identifies the content of the object; empty if there is no such object.
	Digest string `json:"digest,omitempty"`
}

// SeenReference is a reference as a policy read it for its opinion.
type SeenReference struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Digest is empty if there was no such object.
	Digest string `json:"digest,omitempty"`
	// Unknown is true if the policy was not asked because it was unknown whether the object exists.
	Unknown bool `json:"unknown,omitempty"`
}
