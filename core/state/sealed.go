package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/wardlet/wardlet/core/state/durable"
)

// seal encodes value as JSON after a line with its checksum.
func seal(value any) ([]byte, error) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetIndent("", "  ")
	// Users read the file, browsers do not: && stays &&.
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	data := append(checksum(body.Bytes()), body.Bytes()...)
	if len(data) > durable.MaxSize {
		return nil, fmt.Errorf("it has %d bytes, and no more than %d are read back: make the document smaller", len(data), durable.MaxSize)
	}
	return data, nil
}

// unseal decodes into value data that seal encoded.
func unseal(data []byte, value any) error {
	end := bytes.IndexByte(data, '\n') + 1
	head, body := data[:end], data[end:]
	if !bytes.Equal(head, checksum(body)) {
		return errors.New("the checksum in its first line is not that of the rest")
	}
	if err := boundQuantities(body, value); err != nil {
		return err
	}
	return json.Unmarshal(body, value)
}

func checksum(body []byte) []byte {
	return fmt.Appendf(nil, "sha256:%x\n", sha256.Sum256(body))
}

var (
	// longNumber matches a number, or a string with a number, that would take extremely long to
	// parse as a quantity: 1e999999999 has a billion digits.
	longNumber = regexp.MustCompile(`[":,\[\s][+-]?[0-9.]*([eE][+-]?[0-9]{4}|[0-9.]{200})`)

	quantity    = reflect.TypeFor[resource.Quantity]()
	unmarshaler = reflect.TypeFor[json.Unmarshaler]()
)

// boundQuantities refuses quantities that would take extremely long to parse into the type of
// value. In other places such numbers are normal text.
func boundQuantities(body []byte, value any) error {
	if !longNumber.Match(body) {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return err
	}
	return findLong(tree, reflect.TypeOf(value))
}

// findLong walks a tree together with the type into which it is read.
func findLong(tree any, t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == quantity {
		// This is the text that a decoder would see.
		if text := fmt.Sprintf("%q", tree); longNumber.MatchString(text) {
			return fmt.Errorf("the quantity %.40s is far too large, or too exact", text)
		}
		return nil
	}
	if reflect.PointerTo(t).Implements(unmarshaler) {
		return nil
	}
	var errs []error
	switch tree := tree.(type) {
	case []any:
		if t.Kind() != reflect.Slice && t.Kind() != reflect.Array {
			return nil
		}
		for _, item := range tree {
			errs = append(errs, findLong(item, t.Elem()))
		}
	case map[string]any:
		for key, item := range tree {
			switch t.Kind() {
			case reflect.Map:
				errs = append(errs, findLong(item, t.Elem()))
			case reflect.Struct:
				if member := memberOf(t, key); member != nil {
					errs = append(errs, findLong(item, member))
				}
			}
		}
	}
	return errors.Join(errs...)
}

// memberOf returns the type of the field with this JSON name, in any case, of a struct or of a
// struct that it inlines.
func memberOf(t reflect.Type, key string) reflect.Type {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "" && f.Anonymous && f.Type.Kind() == reflect.Struct:
			if member := memberOf(f.Type, key); member != nil {
				return member
			}
		case strings.EqualFold(name, key):
			return f.Type
		case name == "" && strings.EqualFold(f.Name, key):
			return f.Type
		}
	}
	return nil
}
