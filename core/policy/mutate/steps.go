package mutate

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// maxMoved is how many list elements all insertions and removals of a patch
// together may move.
const maxMoved = 1 << 22

// steps applies the operations of a patch to a document, one after the other.
type steps struct {
	// root is the present document. The operations change it in place.
	root any
	// moved is the number of list elements that were moved.
	moved int
}

// applyAll applies operations. It stops at the first that does not fit.
func (s *steps) applyAll(operations []operation) error {
	for i := range operations {
		o := &operations[i]
		root, err := s.edit(s.root, o.at, o)
		if err != nil {
			return badPatch("operation %d, %s %s: %v", i, o.op, shown(o.path), err)
		}
		s.root = root
	}
	return nil
}

// edit applies an operation to the value at a place below node, and returns the new
// node.
func (s *steps) edit(node any, at pointer, o *operation) (any, error) {
	if len(at) == 0 {
		return o.onValue(node)
	}
	switch node := node.(type) {
	case map[string]any:
		return node, s.editMember(node, at, o)
	case []any:
		return s.editElement(node, at, o)
	default:
		return nil, fmt.Errorf("there is nothing below %s, so no %s either; add what is around it first", kindOf(node), shown(at[0]))
	}
}

// onValue applies an operation to an existing value. Removals are not done here but
// in the object or list that contains the value.
func (o *operation) onValue(is any) (any, error) {
	switch {
	case o.op == opRemove:
		return nil, errors.New("the whole document cannot be removed")
	case o.op != opTest:
		return o.value, nil
	case !equal(is, o.value):
		return nil, fmt.Errorf("the test failed: the document has another value there (%s)", kindOf(is))
	}
	return is, nil
}

func (s *steps) editMember(object map[string]any, at pointer, o *operation) error {
	key := at[0]
	member, ok := object[key]
	switch {
	case !ok && (len(at) > 1 || o.op != opAdd):
		return fmt.Errorf("the document has no %s there; add it first, or leave it out", shown(key))
	case len(at) == 1 && o.op == opRemove:
		delete(object, key)
		return nil
	}
	member, err := s.edit(member, at[1:], o)
	if err == nil {
		object[key] = member
	}
	return err
}

func (s *steps) editElement(list []any, at pointer, o *operation) (any, error) {
	inserts := len(at) == 1 && o.op == opAdd
	index, ok := indexOf(at[0])
	if at[0] == "-" && inserts {
		index, ok = len(list), true
	}
	switch {
	case !ok:
		return nil, fmt.Errorf("%s is no index of a list: want a number from 0 without leading zeros, or - to append", shown(at[0]))
	case index > len(list), index == len(list) && !inserts:
		return nil, fmt.Errorf("the list has no element %d, it has %d elements", index, len(list))
	case inserts:
		if err := s.move(len(list) - index); err != nil {
			return nil, err
		}
		return slices.Insert(list, index, o.value), nil
	case len(at) == 1 && o.op == opRemove:
		if err := s.move(len(list) - index); err != nil {
			return nil, err
		}
		return slices.Delete(list, index, index+1), nil
	}
	element, err := s.edit(list[index], at[1:], o)
	if err != nil {
		return nil, err
	}
	list[index] = element
	return list, nil
}

func (s *steps) move(elements int) error {
	if s.moved += elements; s.moved > maxMoved {
		return errors.New("the patch inserts into long lists too often: replace the list")
	}
	return nil
}

// indexOf returns the list index in an element of a pointer, as RFC 6901 defines
// it.
func indexOf(token string) (index int, ok bool) {
	if len(token) == 0 || len(token) > 9 || token[0] == '0' && len(token) > 1 || token[0] < '0' || token[0] > '9' {
		return 0, false
	}
	index, err := strconv.Atoi(token)
	return index, err == nil
}
