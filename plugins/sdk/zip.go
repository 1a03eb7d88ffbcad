package sdk

import (
	"iter"

	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
)

// Zip iterates over the elements of two lists side by side. The two paths must be the same
// up to the [*], such as spec.@containers[*].name and spec.@containers[*].image. If the
// lists have different lengths, the call fails.
func Zip(a, b *Field) iter.Seq2[Value, Value] {
	return func(yield func(Value, Value) bool) {
		v, w := a.Value(), b.Value()
		left, right := v.parts(KindList), w.parts(KindList)
		if v.Len() != w.Len() {
			guest.Fault("fields " + a.path + " and " + b.path + " are lists of different lengths")
			return
		}
		for {
			one, ok := left.Next()
			other, too := right.Next()
			if !ok || !too {
				break
			}
			if !yield(Value{one, a}, Value{other, b}) {
				return
			}
		}
		if left.More() {
			a.left(left)
		}
		if right.More() {
			b.left(right)
		}
	}
}
