package request

import (
	"iter"

	"github.com/wardlet/wardlet/plugins/sdk"
)

// What an update can change.
const (
	Labels      = "labels"
	Annotations = "annotations"
	Images      = "images"
	Resources   = "resources"
	Containers  = "containers"
	Tolerations = "tolerations"
	Deadline    = "deadline"
	Grace       = "grace"
	// Spec is whatever has no word of its own.
	Spec = "spec"
)

// Changes are what an update changes.
type Changes struct{ field *sdk.Field }

// Changed declares what an update changes. It is empty where the operation is
// not Update.
func Changed() *Changes { return &Changes{sdk.Request("changed")} }

// Words are what has changed.
func (c *Changes) Words() iter.Seq[string] { return c.field.Strings() }

// Any reports whether anything has changed that has a word.
func (c *Changes) Any() bool { return c.field.Len() > 0 }

// Has reports whether something has changed.
func (c *Changes) Has(word string) bool {
	for changed := range c.field.Strings() {
		if changed == word {
			return true
		}
	}
	return false
}

// Only reports whether something has changed, and nothing but the given.
func (c *Changes) Only(words ...string) bool {
	n := 0
	for changed := range c.field.Strings() {
		known := false
		for _, word := range words {
			known = known || word == changed
		}
		if n++; !known {
			return false
		}
	}
	return n > 0
}
