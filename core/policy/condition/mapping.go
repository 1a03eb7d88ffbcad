package condition

import (
	"reflect"
	"slices"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// mapping is a map of the pod. Its keys and values are texts.
type mapping struct {
	unconvertible
	vocabulary *vocabulary
	entries    reflect.Value
	element    *reading
}

var _ traits.Mapper = (*mapping)(nil)

// Find returns the value of a key.
func (m *mapping) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(key), false
	}
	entry := m.entry(string(name))
	if !entry.IsValid() {
		return nil, false
	}
	v, err := m.element.get(entry)
	if err != nil {
		return types.WrapErr(err), true
	}
	return m.vocabulary.NativeToValue(v), true
}

// entry returns the value of a key, the zero reflect.Value if there is none.
func (m *mapping) entry(key string) reflect.Value {
	if texts, ok := reflect.TypeAssert[map[string]string](m.entries); ok { // nearly always
		text, found := texts[key]
		if !found {
			return reflect.Value{}
		}
		return reflect.ValueOf(text)
	}
	return m.entries.MapIndex(reflect.ValueOf(key).Convert(m.entries.Type().Key()))
}

// Get returns the value of a key.
func (m *mapping) Get(key ref.Val) ref.Val {
	v, found := m.Find(key)
	if !found && v == nil {
		return types.NewErr("no such key: %v", key)
	}
	return v
}

// Contains reports whether there is an entry with a key.
func (m *mapping) Contains(key ref.Val) ref.Val {
	v, found := m.Find(key)
	if !found && v != nil {
		return v
	}
	return types.Bool(found)
}

// Size returns the number of entries.
func (m *mapping) Size() ref.Val { return types.Int(m.entries.Len()) }

// Iterator returns an iterator over the keys, sorted.
func (m *mapping) Iterator() traits.Iterator {
	it, _ := m.keys().(traits.Lister)
	return it.Iterator()
}

// keys returns the list of the keys, sorted.
func (m *mapping) keys() ref.Val {
	keys := make([]string, 0, m.entries.Len())
	for it := m.entries.MapRange(); it.Next(); {
		keys = append(keys, it.Key().String())
	}
	slices.Sort(keys)
	return types.NewStringList(m.vocabulary, keys)
}

// Type returns CEL's type of all maps.
func (*mapping) Type() ref.Type { return types.MapType }

// Value returns the map.
func (m *mapping) Value() any { return m.entries.Interface() }

// Equal is never called, because rules.go refuses to compare maps.
func (*mapping) Equal(ref.Val) ref.Val { return types.NewErr("maps cannot be compared") }
