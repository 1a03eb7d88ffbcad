package sdk

import (
	"iter"

	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
)

// Zip goes through the elements of two lists side by side. The paths must
// share their [*], as spec.@containers[*].name and spec.@containers[*].image
// do; lists of different lengths make the call fail.
func Zip(a, b *Field) iter.Seq2[Value, Value] {
	return func(yield func(Value, Value) bool) {
		if a.Len() != b.Len() {
			guest.Fault("fields " + a.path + " and " + b.path + " are lists of different lengths")
			return
		}
		right := make([]Value, 0, b.Len())
		for element := range b.Elements() {
			right = append(right, element)
		}
		i := 0
		for left := range a.Elements() {
			if !yield(left, right[i]) {
				return
			}
			i++
		}
	}
}
