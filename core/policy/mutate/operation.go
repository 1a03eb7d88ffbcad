package mutate

import (
	"errors"
	"fmt"

	"github.com/wardlet/wardlet/core/policy/wasm"
)

// maxOperations is how many operations a patch may have. It is the limit for a
// plugin's call.
const maxOperations = wasm.MaxPatchOperations

// These are the operations of RFC 6902 that a patch may have. move and copy are not
// allowed: they could move values that the plugin may not have seen, and repeated
// copies multiply.
const (
	opAdd     = "add"
	opReplace = "replace"
	opRemove  = "remove"
	opTest    = "test"
)

// operation is one step of a patch.
type operation struct {
	op string
	// path is the path in the patch. at is the same path without escapes.
	path string
	at   pointer
	// value is not shared with other operations.
	value any
}

// readPatch reads a whole patch, before any of it is applied.
func readPatch(text []byte) ([]operation, error) {
	values, err := readValues(text)
	if err != nil {
		return nil, badPatch("%v", err)
	}
	list, ok := values.([]any)
	if !ok {
		return nil, badPatch("want a JSON array of operations, as RFC 6902 has it, got %s", kindOf(values))
	}
	if len(list) > maxOperations {
		return nil, badPatch("it has %d operations, more than the %d a patch may have: replace what is around them", len(list), maxOperations)
	}
	operations := make([]operation, len(list))
	for i, value := range list {
		if operations[i], err = readOperation(value); err != nil {
			return nil, badPatch("operation %d: %v", i, err)
		}
	}
	return operations, nil
}

// readOperation reads an operation. It ignores members that RFC 6902 does not
// define, as the RFC requires.
func readOperation(from any) (operation, error) {
	members, ok := from.(map[string]any)
	if !ok {
		return operation{}, fmt.Errorf("want an object, got %s", kindOf(from))
	}
	op, _ := members["op"].(string)
	switch op {
	case opAdd, opReplace, opRemove, opTest:
	case "":
		return operation{}, errors.New(`"op" must be add, replace, remove or test`)
	default:
		return operation{}, fmt.Errorf(`"op" is %s; it must be add, replace, remove or test`, shown(op))
	}
	path, ok := members["path"].(string)
	if !ok {
		return operation{}, errors.New(`"path" must be a string`)
	}
	at, err := parsePointer(path)
	if err != nil {
		return operation{}, fmt.Errorf("the path %s: %w", shown(path), err)
	}
	value, ok := members["value"]
	if !ok && op != opRemove {
		return operation{}, fmt.Errorf(`%s %s: "value" is missing; what is to be null must say so`, op, shown(path))
	}
	return operation{op: op, path: path, at: at, value: value}, nil
}

func kindOf(value any) string {
	switch value.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case nil:
		return "null"
	default:
		return "a number"
	}
}
