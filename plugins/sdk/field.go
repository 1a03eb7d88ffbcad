package sdk

import (
	"iter"

	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
)

// Field is a field that a plugin declared it wants to see. It has a value only
// while the plugin judges a pod; reading it in setup makes setup fail.
type Field struct {
	path   string
	handle int
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
//
// Fields must be declared as package variables; 64 at most.
func Object(path string) *Field { return declare("object." + path) }

// OldObject declares a field of what was admitted before: the pod's last
// version, or the pod that this one replaces. It is missing where there is
// none.
func OldObject(path string) *Field { return declare("oldObject." + path) }

// Request declares a field of the question: operation ("ADD" or "UPDATE"),
// source, document, replaces (the UID of the pod that this one replaces, or
// missing), node, or time (milliseconds since 1970).
func Request(name string) *Field { return declare("request." + name) }

func declare(path string) *Field { return &Field{path, guest.Declare(path)} }

// Value is the field's value.
func (f *Field) Value() Value { return Value{guest.Field(f.handle, f.path), f.path} }

// Kind says what the field is.
func (f *Field) Kind() Kind { return f.Value().Kind() }

// Exists is Value.Exists of the field.
func (f *Field) Exists() bool { return f.Value().Exists() }

// String is Value.String of the field.
func (f *Field) String() string { return f.Value().String() }

// Int is Value.Int of the field.
func (f *Field) Int() int64 { return f.Value().Int() }

// Bool is Value.Bool of the field.
func (f *Field) Bool() bool { return f.Value().Bool() }

// Len is Value.Len of the field.
func (f *Field) Len() int { return f.Value().Len() }

// JSON is Value.JSON of the field.
func (f *Field) JSON() []byte { return f.Value().JSON() }

// Elements is Value.Elements of the field.
func (f *Field) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) { f.Value().Elements()(yield) }
}

// Strings is Value.Strings of the field.
func (f *Field) Strings() iter.Seq[string] {
	return func(yield func(string) bool) { f.Value().Strings()(yield) }
}

// Map is Value.Map of the field.
func (f *Field) Map() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) { f.Value().Map()(yield) }
}

// Lookup is Value.Lookup of the field.
func (f *Field) Lookup(key string) (value string, ok bool) { return f.Value().Lookup(key) }
