//go:build e2e

package statusparity

import (
	"fmt"
	"strings"
)

// mergeKeys has the lists of a pod's status whose elements are merged, with the key that identifies
// an element. Other lists are replaced.
var mergeKeys = map[string]string{"conditions": "type", "podIPs": "ip", "hostIPs": "ip"}

// fold applies a strategic merge patch to an object, as the API server does. At the end of each
// life its result is compared with the object at the API server. It ignores $setElementOrder,
// because the comparison ignores order.
func fold(object, patch value) error {
	for key, is := range patch {
		if strings.HasPrefix(key, "$") {
			if strings.HasPrefix(key, "$setElementOrder/") {
				continue
			}
			return fmt.Errorf("directive %s is not known", key)
		}
		into, isObject := object[key].(value)
		switch is := is.(type) {
		case nil:
			delete(object, key)
		case value:
			if !isObject {
				into = value{}
				object[key] = into
			}
			if err := fold(into, is); err != nil {
				return err
			}
		case []any:
			merged, err := foldList(key, object[key], is)
			if err != nil {
				return err
			}
			object[key] = merged
		default:
			object[key] = is
		}
	}
	return nil
}

func foldList(key string, is any, patch []any) ([]any, error) {
	by, ok := mergeKeys[key]
	if !ok {
		return patch, nil
	}
	list, _ := is.([]any)
	for _, element := range patch {
		next, ok := element.(value)
		if !ok {
			return nil, fmt.Errorf("an element of %s is no object", key)
		}
		at := -1
		for i := range list {
			if list[i].(value)[by] == next[by] {
				at = i
			}
		}
		switch {
		case next["$patch"] == "delete":
			if at >= 0 {
				list = append(list[:at:at], list[at+1:]...)
			}
		case at >= 0:
			if err := fold(list[at].(value), next); err != nil {
				return nil, err
			}
		default:
			added := value{}
			if err := fold(added, next); err != nil {
				return nil, err
			}
			list = append(list, added)
		}
	}
	return list, nil
}
