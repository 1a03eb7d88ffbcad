package wasm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/safetext"
)

// These bound what a plugin hands over in one call; bounds of text are in bytes.
// Longer text is cut, except for the keys of annotations.
const (
	maxReasonBytes  = 64
	maxMessageBytes = 4 << 10
	maxWarnings     = 64
	maxAnnotations  = 64
	maxKeyBytes     = 253
	maxRetryAfter   = 24 * time.Hour
)

// output is what a plugin handed over in the call under way.
type output struct {
	// left is how many bytes the plugin may still hand over.
	left            int
	reason, message string
	explanation     string
	warnings        []string
	annotations     map[string]string
	retryAfter      time.Duration
	patch           []byte
}

// charge counts the bytes that the plugin hands over, and stops the call if there
// are too many.
func (o *output) charge(n uint32) {
	if uint64(n) > uint64(o.left) {
		abi.Stop(abi.Failf(abi.BadOutput, "the plugin put out more than its policy allows in one call: raise output_bytes of its [limits]"))
	}
	o.left -= int(n)
}

func (o *output) setReason(code, message string) {
	o.reason = safetext.Bounded(code, maxReasonBytes)
	o.message = safetext.Bounded(message, maxMessageBytes)
}

func (o *output) warn(text string) {
	if len(o.warnings) == maxWarnings {
		abi.Stop(abi.Failf(abi.BadOutput, "more than %d warnings in one call", maxWarnings))
	}
	o.warnings = append(o.warnings, safetext.Bounded(text, maxMessageBytes))
}

func (o *output) annotate(key, value string) {
	if key == "" || len(key) > maxKeyBytes {
		abi.Stop(abi.Failf(abi.BadOutput, "an annotation's key of %d bytes: it must have 1 to %d", len(key), maxKeyBytes))
	}
	key = safetext.Printable(key)
	if _, ok := o.annotations[key]; !ok && len(o.annotations) == maxAnnotations {
		abi.Stop(abi.Failf(abi.BadOutput, "more than %d annotations in one call", maxAnnotations))
	}
	if o.annotations == nil {
		o.annotations = map[string]string{}
	}
	o.annotations[key] = safetext.Printable(value, '\n', '\t')
}

func (o *output) explain(text string) { o.explanation = safetext.Printable(text, '\n', '\t') }

func (o *output) retry(milliseconds int64) {
	if milliseconds < 0 {
		abi.Stop(abi.Failf(abi.BadOutput, "a retry after %d ms: it must not be negative", milliseconds))
	}
	o.retryAfter = time.Duration(min(milliseconds, maxRetryAfter.Milliseconds())) * time.Millisecond
}

// said returns the last reason and message as one text, empty if there is neither.
func (o *output) said() string {
	if o.reason != "" && o.message != "" {
		return o.reason + ": " + o.message
	}
	return o.reason + o.message
}

// why returns the details to add when the guest reports an error with a number.
func (o *output) why(status int32) string {
	if text := o.said(); text != "" {
		return ": " + text
	}
	return fmt.Sprintf(" with %d and gives no reason", status)
}

// patchOperations are the operations that a patch may have. RFC 6902 also has move
// and copy, but they could move fields that the policy may not change.
var patchOperations = map[string]bool{"add": true, "replace": true, "remove": true, "test": true}

// setPatch checks and keeps a patch. An empty list counts as no patch.
func (o *output) setPatch(text []byte) {
	n, err := checkPatch(text)
	if err != nil {
		abi.Stop(abi.Failf(abi.BadOutput, "the plugin's patch: %w", err))
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
		return 0, fmt.Errorf("want a JSON array of operations: %s", safetext.Shown(json.Unmarshal(text, &none).Error()))
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

// jsonSpace is the white space that JSON allows between values.
const jsonSpace = " \t\r\n"

// jsonScanner reads JSON text that is known to be valid, each byte once. It decodes
// nothing, so it takes a fraction of the time of a decoder.
type jsonScanner struct {
	text []byte
	at   int
}

// peek skips white space and returns the byte after it.
func (s *jsonScanner) peek() byte {
	for {
		switch c := s.text[s.at]; c {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return c
		}
	}
}

// open reads the bracket that begins a list or object, and reports whether the list
// or object has any elements. end is the closing bracket; open reads it, too, if
// there are no elements.
func (s *jsonScanner) open(end byte) bool {
	s.peek()
	s.at++
	if s.peek() == end {
		s.at++
		return false
	}
	return true
}

// more reads the comma or the closing bracket after an element, and reports whether
// another element follows.
func (s *jsonScanner) more(end byte) bool {
	c := s.peek()
	s.at++
	return c != end
}

// value reads a value, or a key, and returns its text.
func (s *jsonScanner) value() []byte {
	s.peek()
	begin := s.at
	for depth := 0; ; {
		switch s.text[s.at] {
		case '"':
			s.skipString()
		case '[', '{':
			depth++
			s.at++
		case ']', '}':
			depth--
			s.at++
		case ',', ':', ' ', '\t', '\r', '\n':
			s.at++ // within a list or object
			continue
		default:
			s.skipWord()
		}
		if depth == 0 {
			return s.text[begin:s.at]
		}
	}
}

func (s *jsonScanner) skipString() {
	for s.at++; s.text[s.at] != '"'; s.at++ {
		if s.text[s.at] == '\\' {
			s.at++
		}
	}
	s.at++
}

// skipWord skips a number, true, false or null.
func (s *jsonScanner) skipWord() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ',', ':', ']', '}', ' ', '\t', '\r', '\n':
			return
		}
		s.at++
	}
}
