package sdk

import (
	"iter"

	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
	"github.com/wardlet/wardlet/plugins/sdk/internal/record"
)

// Field is a field that a plugin declared it wants to see. It has a value only
// while the plugin judges a pod; reading it in setup makes setup fail.
//
// Fields must be declared as package variables; 64 at most.
type Field struct {
	path   string
	handle int
	place  *record.Value
}

// Object declares a field of the pod that is judged, by its path below the
// root: json names with dots between them, as in
//
//	spec.hostNetwork
//	metadata.labels
//	metadata.labels['app.kubernetes.io/name']
//	spec.containers[0].image
//	spec.containers[*].ports[*].hostPort
//	spec.@containers[*].image
//
// A [*] makes a list, one in another's elements a list of lists. @containers
// is all containers: init, regular and ephemeral ones, in this order. A path
// that names no field is refused when the agent loads the plugin.
func Object(path string) *Field { return declare("object." + path) }

// OldObject declares a field of what was admitted before: the pod's last
// version, or the pod that this one replaces. It is missing where there is
// none. In a merge it is the pod that runs, in a filter the version that was
// let through last.
func OldObject(path string) *Field { return declare("oldObject." + path) }

// Request declares a field of the question. Package request has each with its
// type.
func Request(name string) *Field { return declare("request." + name) }

// Node declares a fact about the node: name, labels, allocatable (a map of
// quantities), or, of the pods on it, pods[*].namespace, name, uid, source,
// labels, priority, requests (a map of quantities) or hostPorts. The policy
// document must name the capability node.read. A fact that the agent does not
// know is missing; a tenant's policy sees only the tenant's pods.
func Node(path string) *Field { return declare("node." + path) }

// Candidates declares a field of each of the pods that a merge chooses from: a
// list with an element for every candidate. Package merge has each with its
// type. In other hooks there are no candidates.
func Candidates(path string) *Field { return declare("candidates[*]." + path) }

// References declares a field of each ConfigMap and Secret that the pod names, in
// its volumes, its environment or its pull secrets: kind, name, optional, keys (a
// list of the names of its data) or digest; a list with an element for each, by
// kind and name. An object that is not there has neither keys nor a digest. The
// policy document must name the capability references.read.
func References(field string) *Field { return declare("request.references[*]." + field) }

// declare stays a call: there may be many fields, and each would have a copy.
//
//go:noinline
func declare(path string) *Field {
	handle := guest.Declare(path)
	return &Field{path, handle, guest.Place(handle)}
}

// Lazy makes a field one that the agent hands over only when it is read, for
// what is large or seldom needed. It is asked for once in a call, and costs a
// call of the agent where other fields cost nothing.
//
//	var volumes = sdk.Object("spec.volumes").Lazy()
func (f *Field) Lazy() *Field {
	guest.Lazy(f.handle)
	return f
}

// Value is the field's value.
//
// It stays a call, so that what is made of it, above all Elements, is small
// enough to become part of the policy: a loop over a function that is not takes
// memory from the heap.
//
//go:noinline
func (f *Field) Value() Value { return Value{guest.Field(f.handle, f.place), f} }

// Kind says what the field is.
func (f *Field) Kind() Kind { return f.Value().Kind() }

// Exists is Value.Exists of the field.
func (f *Field) Exists() bool { return f.place.Exists() || f.exists() }

// exists is Exists of a field that is missing, or was not read yet.
//
//go:noinline
func (f *Field) exists() bool { return f.Value().Exists() }

// String is Value.String of the field.
func (f *Field) String() string { return f.Value().String() }

// Int is Value.Int of the field.
func (f *Field) Int() int64 { return f.Value().Int() }

// Bool is Value.Bool of the field.
func (f *Field) Bool() bool { return f.Value().Bool() }

// Len is Value.Len of the field.
func (f *Field) Len() int { return f.Value().Len() }

// At is Value.At of the field.
func (f *Field) At(i int) Value { return f.Value().At(i) }

// AnyTrue is Value.AnyTrue of the field.
func (f *Field) AnyTrue() bool { return f.place.HasBool(true, (*bools)(f)) }

// AllTrue is Value.AllTrue of the field.
func (f *Field) AllTrue() bool { return !f.place.HasBool(false, (*bools)(f)) }

// JSON is Value.JSON of the field.
func (f *Field) JSON() []byte { return f.Value().JSON() }

// Elements is Value.Elements of the field.
func (f *Field) Elements() iter.Seq[Value] { return f.Value().Elements() }

// Strings is Value.Strings of the field.
func (f *Field) Strings() iter.Seq[string] { return f.Value().Strings() }

// AllStrings is Value.AllStrings of the field.
func (f *Field) AllStrings() iter.Seq[string] { return f.Value().AllStrings() }

// Map is Value.Map of the field.
func (f *Field) Map() iter.Seq2[string, string] { return f.Value().Map() }

// Lookup is Value.Lookup of the field.
func (f *Field) Lookup(key string) (value string, ok bool) { return f.Value().Lookup(key) }
