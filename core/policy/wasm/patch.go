package wasm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// patchOperations are the operations that a patch may have. RFC 6902 also has move
// and copy, but they could move fields that the policy may not change.
var patchOperations = map[string]bool{"add": true, "replace": true, "remove": true, "test": true}

// setPatch checks and keeps a patch. An empty list counts as no patch.
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

// MaxPatchOperations is the most operations that a patch may have.
const MaxPatchOperations = 1024

// checkPatch returns how many operations a JSON patch has. It does not check
// whether they fit a document. It reads the operations in order and stops at the
// first invalid one: a patch may be long, and faults mostly come early.
func checkPatch(text []byte) (operations int, err error) {
	if !utf8.Valid(text) {
		return 0, errors.New("it is not valid UTF-8")
	}
	if begin := bytes.TrimLeft(text, jsonSpace); len(begin) == 0 || begin[0] != '[' {
		return 0, errors.New("want a JSON array of operations")
	}
	if !json.Valid(text) {
		var none json.RawMessage
		return 0, fmt.Errorf("want a JSON array of operations: %s", shown(json.Unmarshal(text, &none).Error()))
	}
	s := jsonScanner{text: text}
	for more := s.open(']'); more; more = s.more(']') {
		if operations == MaxPatchOperations {
			return 0, fmt.Errorf("it has more than %d operations", MaxPatchOperations)
		}
		if err := checkOperation(&s); err != nil {
			return 0, fmt.Errorf("operation %d: %w", operations, err)
		}
		operations++
	}
	return operations, nil
}

// checkOperation reads and checks the next operation of a patch that is valid JSON.
func checkOperation(s *jsonScanner) error {
	if s.peek() != '{' {
		return errors.New("want an object")
	}
	var op, path []byte
	for more := s.open('}'); more; more = s.more('}') {
		key := s.value()
		s.peek()
		s.at++ // the colon
		value := s.value()
		switch name, _ := stringOf(key); string(name) {
		case "op":
			op = value
		case "path":
			path = value
		}
	}
	if name, ok := stringOf(op); !ok || !patchOperations[string(name)] {
		return errors.New(`"op" must be add, replace, remove or test`)
	}
	if len(path) == 0 || path[0] != '"' {
		return errors.New(`"path" must be a string`)
	}
	return nil
}

// stringOf returns the content of a JSON string, false if the value is not a
// string. The result may share the bytes of value.
func stringOf(value []byte) (s []byte, ok bool) {
	if len(value) == 0 || value[0] != '"' {
		return nil, false
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return value[1 : len(value)-1], true
	}
	var text string
	err := json.Unmarshal(value, &text)
	return []byte(text), err == nil
}
