package kube

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// MergeKeys has the lists of an object that a server merges by a key of their elements. The list
// "status.conditions", for example, has the key "type". All other lists are replaced as a whole.
// The entries follow the tags of the API's types.
type MergeKeys map[string]string

// PodStatus and NodeStatus are the merge keys of the statuses of pods and nodes.
var (
	PodStatus  = MergeKeys{"status.conditions": "type", "status.podIPs": "ip", "status.hostIPs": "ip"}
	NodeStatus = MergeKeys{"status.conditions": "type", "status.addresses": "type"}
)

// Patch returns the strategic merge patch that changes old to next, which must have the same type;
// nil if they are equal.
func (k MergeKeys) Patch(old, next any) (map[string]any, error) {
	before, err := asMap(old)
	if err != nil {
		return nil, err
	}
	after, err := asMap(next)
	if err != nil {
		return nil, err
	}
	patch := k.object("", before, after)
	if len(patch) == 0 {
		return nil, nil
	}
	return patch, nil
}

func asMap(object any) (map[string]any, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("making a patch: %w", err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("making a patch: %w", err)
	}
	return m, nil
}

// object returns the part of a patch for one object.
func (k MergeKeys) object(path string, before, after map[string]any) map[string]any {
	patch := map[string]any{}
	for name, is := range after {
		was, had := before[name]
		if had && reflect.DeepEqual(was, is) {
			continue
		}
		at := name
		if path != "" {
			at = path + "." + name
		}
		wasObject, ok := was.(map[string]any)
		isObject, both := is.(map[string]any)
		switch key := k[at]; {
		case ok && both:
			patch[name] = k.object(at, wasObject, isObject)
		case key != "" && had:
			was, _ := was.([]any)
			is, _ := is.([]any)
			changed, order := mergeList(key, was, is)
			patch[name] = changed
			patch["$setElementOrder/"+name] = order
		default:
			patch[name] = is
		}
	}
	for name := range before {
		if _, has := after[name]; !has {
			patch[name] = nil
		}
	}
	return patch
}

// mergeList returns the part of a patch for a list that is merged by a key, and the order of its
// elements.
func mergeList(key string, before, after []any) (changed, order []any) {
	changed, order = []any{}, []any{}
	for _, is := range after {
		id := keyOf(is, key)
		order = append(order, map[string]any{key: id})
		i := slices.IndexFunc(before, func(e any) bool { return keyOf(e, key) == id })
		if i < 0 {
			changed = append(changed, is)
			continue
		}
		if reflect.DeepEqual(before[i], is) {
			continue
		}
		was, _ := before[i].(map[string]any)
		now, _ := is.(map[string]any)
		e := MergeKeys(nil).object("", was, now)
		e[key] = id
		changed = append(changed, e)
	}
	for _, was := range before {
		id := keyOf(was, key)
		if !slices.ContainsFunc(after, func(e any) bool { return keyOf(e, key) == id }) {
			changed = append(changed, map[string]any{"$patch": "delete", key: id})
		}
	}
	return changed, order
}

func keyOf(element any, key string) any {
	m, _ := element.(map[string]any)
	return m[key]
}
