package sdk

import (
	"iter"

	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
	"github.com/wardlet/wardlet/plugins/sdk/internal/record"
)

// Field is a field that the plugin declared. It has a value only while the plugin judges a
// pod. If setup reads it, setup fails.
//
// Fields must be declared as package variables. A plugin may have at most 64.
type Field struct {
	path   string
	handle int
	place  *record.Value
}

// Object declares a field of the judged pod. Its path consists of JSON names with dots
// between them, for example
//
//	spec.hostNetwork
//	metadata.labels
//	metadata.labels['app.kubernetes.io/name']
//	spec.containers[0].image
//	spec.containers[*].ports[*].hostPort
//	spec.@containers[*].image
//
// With a [*] in the path, the value is a list; with a second [*], it is a list of lists.
// @containers stands for all containers: init, regular and ephemeral containers, in this
// order. If a path names no field, the agent refuses it when it loads the plugin.
func Object(path string) *Field { return declare("object." + path) }

// OldObject declares a field of the old object: the version of the pod that was admitted
// last, or the pod that this pod replaces. The field is missing if there is no old object.
// In the hook merge, the old object is the running pod; in the hook filter, it is the
// version that passed last.
func OldObject(path string) *Field { return declare("oldObject." + path) }

// Request declares a field of the question. Package request has a function for each field,
// with its Go type.
func Request(name string) *Field { return declare("request." + name) }

// Node declares a fact about the node: name, labels, allocatable (a map of quantities), or,
// of the pods on it, pods[*].namespace, name, uid, source, labels, priority, requests (a
// map of quantities) or hostPorts. The policy document must name the capability node.read.
// If the agent does not have a fact, the field is missing. A tenant's policy sees only the
// tenant's pods.
func Node(path string) *Field { return declare("node." + path) }

// Candidates declares a field of the candidates of a merge, as a list with an element for
// every candidate. Package merge has a function for each field, with its Go type. In other
// hooks there are no candidates.
func Candidates(path string) *Field { return declare("candidates[*]." + path) }

// References declares a field of each ConfigMap and Secret that the pod names, in its
// volumes, its environment or its pull secrets: kind, name, optional, keys (a list of the
// names of its data) or digest. The value is a list with an element for each object, sorted
// by kind and name. An object that does not exist has neither keys nor a digest. The policy
// document must name the capability references.read.
func References(field string) *Field { return declare("request.references[*]." + field) }

// declare declares a field. It is not inlined: there may be many fields, and each would
// have a copy of the code.
//
//go:noinline
func declare(path string) *Field {
	handle := guest.Declare(path)
	return &Field{path, handle, guest.Place(handle)}
}

// Lazy makes a field lazy: the agent hands it over only when the policy reads it. Use it
// for fields that are large or rarely needed. The first read in each call of the hook calls
// a function of the agent; other fields are read without such a call.
//
//	var volumes = sdk.Object("spec.volumes").Lazy()
func (f *Field) Lazy() *Field {
	guest.Lazy(f.handle)
	return f
}

// Value returns the field's value.
//
// It is not inlined, so that the methods that call it, above all Elements, are small enough
// to be inlined into the policy. A loop over an iterator that is not inlined allocates heap
// memory.
//
//go:noinline
func (f *Field) Value() Value { return Value{guest.Field(f.handle, f.place), f} }

// Kind returns Value.Kind of the field.
func (f *Field) Kind() Kind { return f.Value().Kind() }

// Exists returns Value.Exists of the field.
func (f *Field) Exists() bool { return f.place.Exists() || f.exists() }

// exists does what Exists does, for a field that is missing or was not read yet.
//
//go:noinline
func (f *Field) exists() bool { return f.Value().Exists() }

// String returns Value.String of the field.
func (f *Field) String() string { return f.Value().String() }

// Int returns Value.Int of the field.
func (f *Field) Int() int64 { return f.Value().Int() }

// Bool returns Value.Bool of the field.
func (f *Field) Bool() bool { return f.Value().Bool() }

// Len returns Value.Len of the field.
func (f *Field) Len() int { return f.Value().Len() }

// At returns Value.At of the field.
func (f *Field) At(i int) Value { return f.Value().At(i) }

// AnyTrue returns Value.AnyTrue of the field.
func (f *Field) AnyTrue() bool { return f.place.HasBool(true, (*bools)(f)) }

// AllTrue returns Value.AllTrue of the field.
func (f *Field) AllTrue() bool { return !f.place.HasBool(false, (*bools)(f)) }

// JSON returns Value.JSON of the field.
func (f *Field) JSON() []byte { return f.Value().JSON() }

// Elements returns Value.Elements of the field.
func (f *Field) Elements() iter.Seq[Value] { return f.Value().Elements() }

// Strings returns Value.Strings of the field.
func (f *Field) Strings() iter.Seq[string] { return f.Value().Strings() }

// AllStrings returns Value.AllStrings of the field.
func (f *Field) AllStrings() iter.Seq[string] { return f.Value().AllStrings() }

// Map returns Value.Map of the field.
func (f *Field) Map() iter.Seq2[string, string] { return f.Value().Map() }

// Lookup returns Value.Lookup of the field.
func (f *Field) Lookup(key string) (value string, ok bool) { return f.Value().Lookup(key) }
