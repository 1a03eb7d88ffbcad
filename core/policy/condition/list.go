package condition

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"

	"github.com/wardlet/wardlet/core/printable"
)

// list is a slice of the pod. Its elements are converted when they are read.
type list struct {
	unconvertible
	vocabulary *vocabulary
	items      reflect.Value
	element    *reading
}

var (
	_ traits.Lister   = (*list)(nil)
	_ traits.Foldable = (*list)(nil)
)

func (l *list) at(i int) ref.Val {
	v, err := l.element.get(l.items.Index(i))
	if err != nil {
		return types.WrapErr(err)
	}
	return l.vocabulary.NativeToValue(v)
}

// Get returns the element with an index.
func (l *list) Get(index ref.Val) ref.Val {
	i, ok := index.(types.Int)
	if !ok || i < 0 || int64(i) >= int64(l.items.Len()) {
		return types.NewErr("the list has %d elements: none has the index %v", l.items.Len(), index)
	}
	return l.at(int(i))
}

// Fold calls f for each element.
func (l *list) Fold(f traits.Folder) {
	if l.element.of != nil {
		l.foldObjects(f)
		return
	}
	for i := range l.items.Len() {
		if !f.FoldEntry(types.Int(i), l.at(i)) {
			return
		}
	}
}

// objectsAtOnce is how many objects are allocated at once. An expression that stops
// at the first element must not pay for all.
const objectsAtOnce = 4

// foldObjects does the same as Fold for elements that are objects. Their type is
// known, so several are allocated at once.
func (l *list) foldObjects(f traits.Folder) {
	var objects []object
	length := l.items.Len()
	for i := range length {
		got, err := l.element.get(l.items.Index(i))
		var element ref.Val
		switch {
		case err != nil:
			element = types.WrapErr(err)
		case got == types.NullValue:
			element = types.NullValue
		default:
			if len(objects) == 0 {
				objects = make([]object, min(objectsAtOnce, length-i))
			}
			objects[0] = object{pointer: got, of: l.element.of}
			element, objects = &objects[0], objects[1:]
		}
		if !f.FoldEntry(types.Int(i), element) {
			return
		}
	}
}

// Iterator returns an iterator over the elements.
func (l *list) Iterator() traits.Iterator { return &listIterator{list: l} }

// Size returns the number of elements.
func (l *list) Size() ref.Val { return types.Int(l.items.Len()) }

// Contains reports whether an element equals value.
func (l *list) Contains(value ref.Val) ref.Val { return listContains(l, value) }

// Type returns CEL's type of all lists.
func (*list) Type() ref.Type { return types.ListType }

// Value returns the slice.
func (l *list) Value() any { return l.items.Interface() }

// Add is never called, because rules.go refuses to add lists.
func (*list) Add(ref.Val) ref.Val { return types.NewErr("lists cannot be added") }

// Equal is never called, because rules.go refuses to compare lists.
func (*list) Equal(ref.Val) ref.Val { return types.NewErr("lists cannot be compared") }

// listContains reports whether an element of a list equals value.
func listContains(l traits.Lister, value ref.Val) ref.Val {
	for it := l.Iterator(); it.HasNext() == types.True; {
		element := it.Next()
		if types.IsUnknownOrError(element) {
			return element
		}
		if types.Equal(element, value) == types.True {
			return types.True
		}
	}
	return types.False
}

// listIterator iterates over a list.
type listIterator struct {
	unconvertible
	list *list
	next int
}

// HasNext reports whether there is a further element.
func (it *listIterator) HasNext() ref.Val { return types.Bool(it.next < it.list.items.Len()) }

// Next returns the next element, nil after the last.
func (it *listIterator) Next() ref.Val {
	if it.next >= it.list.items.Len() {
		return nil
	}
	it.next++
	return it.list.at(it.next - 1)
}

// Equal is never called.
func (*listIterator) Equal(ref.Val) ref.Val { return types.False }

// Type returns CEL's type of all iterators.
func (*listIterator) Type() ref.Type { return types.IteratorType }

// Value returns nil.
func (*listIterator) Value() any { return nil }

// Matches reports whether the condition is true, and what its evaluation cost: from
// 1 to MaxCost, the same for the same input on every machine, even if it fails. An
// error is one line and names the condition.
func (c *Condition) Matches(in *Input) (matched bool, cost uint64, err error) {
	// Eval returns an error for a panic, including the one that stops an evaluation
	// at the limit of its cost.
	value, details, err := c.program.Eval(in)
	cost = 1
	if actual := details.ActualCost(); actual != nil {
		cost = min(max(*actual, 1), MaxCost)
	}
	if err != nil {
		return false, cost, c.failure(err)
	}
	truth, ok := value.(types.Bool)
	if !ok {
		return false, cost, c.failure(fmt.Errorf("it returns %T instead of true or false", value))
	}
	return bool(truth), cost, nil
}

func (c *Condition) failure(err error) error {
	shown := printable.Short(c.expression, maxShown)
	var stopped interpreter.EvalCancelledError
	if errors.As(err, &stopped) && stopped.Cause == interpreter.CostLimitExceeded {
		return fmt.Errorf("the condition %s: it costs more than %d for this pod; simplify it, or let the policy look", shown, MaxCost)
	}
	what := err.Error()
	if strings.HasPrefix(what, "no such key: ") {
		what += "; ask with in whether it is there"
	}
	return fmt.Errorf("the condition %s: %s", shown, printable.Short(what, maxFault))
}
