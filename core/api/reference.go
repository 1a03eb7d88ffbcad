package api

// The kinds of references.
const (
	ConfigMapKind = "ConfigMap"
	SecretKind    = "Secret"
)

// Reference is a ConfigMap or Secret that a pod names, as policies see it: never a value. JSON names are those of
// request.references in docs/abi.md.
type Reference struct {
	// Kind is ConfigMap or Secret.
	Kind string `json:"kind"`
	// Name is that of the object, in the pod's namespace.
	Name string `json:"name"`
	// Optional is true where the pod runs also without it: every mention of it is optional.
	Optional bool `json:"optional"`
	// Keys are the names of its data, sorted.
	Keys []string `json:"keys,omitempty"`
	// Digest tells what its data is from anything else that it may be; empty where there is no such object.
	Digest string `json:"digest,omitempty"`
}

// SeenReference is what a policy has read of a reference when it gave its opinion.
type SeenReference struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Digest is empty where there was no such object.
	Digest string `json:"digest,omitempty"`
	// Unknown is true where the policy was not asked, because it was not known yet whether there is one.
	Unknown bool `json:"unknown,omitempty"`
}
