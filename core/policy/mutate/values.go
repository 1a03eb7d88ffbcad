package mutate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// These bound a patch. Each value needs memory of its own, up to 50 times the
// length of its text, and nested values are walked recursively.
const (
	// MaxPatch is the greatest length of a patch, in bytes.
	MaxPatch = 1 << 20
	// maxValues is how many values a patch may have, including those that contain
	// others. A pod of 100 containers has a third of that.
	maxValues = 10_000
	// maxDepth is how deeply the values may be nested, including the patch's list
	// and its operations. A document that is patched can be maxTokens deeper, which
	// is within the limit for documents of sources.
	maxDepth = 64
	// maxNumber is the greatest length of a number, in bytes.
	maxNumber = 64
)

// readValues parses the JSON text of a patch. Values are nil, bool, json.Number,
// string, []any and map[string]any.
func readValues(text []byte) (any, error) {
	switch {
	case len(text) > MaxPatch:
		return nil, fmt.Errorf("it has %d bytes, more than the %d a patch may have", len(text), MaxPatch)
	case !utf8.Valid(text):
		return nil, errors.New("it is not valid UTF-8")
	case !json.Valid(text):
		return nil, errors.New("it is not valid JSON")
	}
	r := valueReader{dec: json.NewDecoder(bytes.NewReader(text)), left: maxValues}
	r.dec.UseNumber()
	return r.value(1)
}

type valueReader struct {
	dec  *json.Decoder
	left int
}

func (r *valueReader) value(depth int) (any, error) {
	if r.left--; r.left < 0 {
		return nil, fmt.Errorf("it has more than %d values: change less at once", maxValues)
	}
	token, err := r.dec.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Delim:
		if depth > maxDepth {
			return nil, fmt.Errorf("its values are nested deeper than %d levels", maxDepth)
		}
		if token == '{' {
			return r.object(depth)
		}
		return r.list(depth)
	case json.Number:
		if len(token) > maxNumber {
			return nil, fmt.Errorf("a number has %d digits, more than the %d that any field takes", len(token), maxNumber)
		}
	}
	return token, nil
}

func (r *valueReader) object(depth int) (any, error) {
	object := map[string]any{}
	for r.dec.More() {
		token, err := r.dec.Token()
		if err != nil {
			return nil, err
		}
		key, ok := token.(string)
		if !ok {
			return nil, errors.New("a key must be a string")
		}
		if _, twice := object[key]; twice {
			return nil, fmt.Errorf("an object has the key %s twice", shown(key))
		}
		if object[key], err = r.value(depth + 1); err != nil {
			return nil, err
		}
	}
	return object, r.end()
}

func (r *valueReader) list(depth int) (any, error) {
	list := []any{}
	for r.dec.More() {
		value, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	return list, r.end()
}

// end reads the bracket that closes an object or a list.
func (r *valueReader) end() error {
	_, err := r.dec.Token()
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
