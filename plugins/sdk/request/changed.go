package request

import (
	"iter"

	"github.com/wardlet/wardlet/plugins/sdk"
)

// The words for what an update can change.
const (
	Labels      = "labels"
	Annotations = "annotations"
	Images      = "images"
	Resources   = "resources"
	Containers  = "containers"
	Tolerations = "tolerations"
	Deadline    = "deadline"
	Grace       = "grace"
	// Spec is every part of the spec that has no word of its own.
	Spec = "spec"
)

// Changes is the field with the words for what an update changes.
type Changes struct{ field *sdk.Field }

// Changed declares what an update changes. The list is empty if the operation is not
// Update.
func Changed() *Changes { return &Changes{sdk.Request("changed")} }

// Words iterates over the words for what has changed.
func (c *Changes) Words() iter.Seq[string] { return c.field.Strings() }

// Any reports whether there is at least one word: something that has a word has changed.
func (c *Changes) Any() bool { return c.field.Len() > 0 }

// Has reports whether the changes include a word.
func (c *Changes) Has(word string) bool {
	for changed := range c.field.Strings() {
		if changed == word {
			return true
		}
	}
	return false
}

// Only reports whether something has changed, and all changes have one of the given words.
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
