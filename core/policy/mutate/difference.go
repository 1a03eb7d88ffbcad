package mutate

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// maxDifferences is how many differences a patch may make.
const maxDifferences = 1024

// absent stands for a value that does not exist. null is a value.
type absent struct{}

// difference is a place at which two documents differ. If one of them lacks a whole
// value, that is one difference at the top of the value.
type difference struct {
	at            pointer
	before, after any
}

// comparison collects the differences of two documents.
type comparison struct{ found []difference }

// compare returns the differences of two documents, sorted by place.
func compare(before, after any) ([]difference, error) {
	var c comparison
	if !c.values(nil, before, after) {
		return nil, fmt.Errorf("it changes more than %d places: change less at once", maxDifferences)
	}
	return c.found, nil
}

// values compares the values at a place. It returns false if there are too many
// differences.
func (c *comparison) values(at pointer, before, after any) bool {
	switch before := before.(type) {
	case map[string]any:
		if after, ok := after.(map[string]any); ok {
			return c.members(at, before, after)
		}
	case []any:
		if after, ok := after.([]any); ok {
			return c.elements(at, before, after)
		}
	default:
		if before == after {
			return true
		}
	}
	c.found = append(c.found, difference{at, before, after})
	return len(c.found) <= maxDifferences
}

func (c *comparison) members(at pointer, before, after map[string]any) bool {
	keys := slices.Collect(maps.Keys(before))
	for key := range after {
		if _, ok := before[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		if !c.values(at.child(key), member(before, key), member(after, key)) {
			return false
		}
	}
	return true
}

func (c *comparison) elements(at pointer, before, after []any) bool {
	for i := range max(len(before), len(after)) {
		if !c.values(at.child(strconv.Itoa(i)), element(before, i), element(after, i)) {
			return false
		}
	}
	return true
}

func member(object map[string]any, key string) any {
	if value, ok := object[key]; ok {
		return value
	}
	return absent{}
}

func element(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return absent{}
}

// each calls do for the value at a place and for all values within it, in order,
// until do returns false.
func each(at pointer, value any, do func(at pointer, value any) bool) bool {
	if value == any(absent{}) {
		return true
	}
	return do(at, value) && eachBelow(at, value, func(at pointer, value any) bool { return each(at, value, do) })
}

// eachBelow calls do for the members of an object or the elements of a list, in
// order, until do returns false.
func eachBelow(at pointer, value any, do func(at pointer, value any) bool) bool {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if !do(at.child(key), value[key]) {
				return false
			}
		}
	case []any:
		for i := range value {
			if !do(at.child(strconv.Itoa(i)), value[i]) {
				return false
			}
		}
	}
	return true
}
