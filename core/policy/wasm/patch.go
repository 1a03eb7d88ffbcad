package wasm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// patchOperations are what a patch may do. RFC 6902 has also move and copy:
// they would take fields along that the policy may not change.
var patchOperations = map[string]bool{"add": true, "replace": true, "remove": true, "test": true}

// setPatch keeps a patch, if it is one; an empty list is none.
func (o *output) setPatch(text []byte) {
	n, err := checkPatch(text)
	if err != nil {
		stop(failf(BadOutput, "the plugin's patch: %w", err))
	}
	o.patch = nil
	if n > 0 {
		o.patch = bytes.Clone(text)
	}
}

// checkPatch says how many operations a JSON patch has. Whether they fit a
// document is not looked at.
func checkPatch(text []byte) (operations int, err error) {
	if !utf8.Valid(text) {
		return 0, errors.New("it is not valid UTF-8")
	}
	if begin := bytes.TrimLeft(text, " \t\r\n"); len(begin) == 0 || begin[0] != '[' {
		return 0, errors.New("want a JSON array of operations")
	}
	var all []map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return 0, fmt.Errorf("want a JSON array of objects: %s", shown(err.Error()))
	}
	for i, operation := range all {
		op, ok := stringOf(operation["op"])
		if !ok || !patchOperations[op] {
			return 0, fmt.Errorf(`operation %d: "op" must be add, replace, remove or test`, i)
		}
		if _, ok := stringOf(operation["path"]); !ok {
			return 0, fmt.Errorf(`operation %d: "path" must be a string`, i)
		}
	}
	return len(all), nil
}

// stringOf is a JSON value as a string, if it is one.
func stringOf(value json.RawMessage) (s string, ok bool) {
	if len(value) == 0 || value[0] != '"' {
		return "", false
	}
	return s, json.Unmarshal(value, &s) == nil
}
