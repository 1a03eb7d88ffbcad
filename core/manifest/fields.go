package manifest

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/nearest"
	"github.com/wardlet/wardlet/core/pod"
)

// fieldCheck walks the values of a document together with the types of the Pod API. It reports
// three kinds of faults, each with its path: fields that the API does not have, values of the wrong
// type, and fields that this version does not support.
type fieldCheck struct {
	tree tree
	// static: the document is of a static pod, which may not reference API objects.
	static  bool
	faults  faults
	members map[reflect.Type]map[string]reflect.Type
}

func newFieldCheck(t tree) *fieldCheck {
	return &fieldCheck{tree: t, members: map[reflect.Type]map[string]reflect.Type{}}
}

func (c *fieldCheck) add(path, format string, args ...any) {
	c.faults = append(c.faults, fault{c.tree.at(path), fmt.Errorf("%s: %w", path, fmt.Errorf(format, args...))})
}

// value checks one value. path is its place in the document, pattern its row in the table of
// supported fields. refused is true below a field that was already refused.
func (c *fieldCheck) value(v any, t reflect.Type, path, pattern string, refused bool) {
	if v == nil || len(c.faults) > api.MaxFaults {
		return
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(unmarshaler) {
		text, err := json.Marshal(v)
		if t == quantity && hugeQuantity.Match(text) {
			c.add(path, "%s is far too large, or too exact", c.shown(v, path))
			return
		}
		if err == nil {
			err = json.Unmarshal(text, reflect.New(t).Interface())
		}
		switch {
		case err != nil && t == quantity:
			c.add(path, "%s is not a quantity; write a number, with or without a unit, such as 2, 0.5, 100m or 64Mi", c.shown(v, path))
		case err != nil:
			c.add(path, "%s is not a %s: %w", c.shown(v, path), t.Name(), err)
		}
		return
	}
	if t == bytesType {
		c.base64(v, path)
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		if m, ok := c.object(v, path); ok {
			c.fields(m, t, path, pattern, refused)
		}
	case reflect.Map:
		if m, ok := c.object(v, path); ok {
			c.keys(m, t, path, pattern, refused)
		}
	case reflect.Slice:
		items, ok := v.([]any)
		if !ok {
			c.add(path, "expected a list, got %s", kindOf(v))
			return
		}
		for i, item := range items {
			c.value(item, t.Elem(), path+"["+strconv.Itoa(i)+"]", pattern+"[]", refused)
		}
	default:
		c.scalar(v, t, path)
	}
}

// shown returns a value as the document has it, for faults: a number, or a string that is cut to
// maxShown; for any other value its type.
func (c *fieldCheck) shown(v any, path string) string {
	switch v := v.(type) {
	case json.Number:
		return c.tree.written(path, v)
	case string:
		if len(v) > maxShown {
			v = strings.ToValidUTF8(v[:maxShown], "") + "…"
		}
		return strconv.Quote(v)
	default:
		return kindOf(v)
	}
}

var (
	unmarshaler = reflect.TypeFor[json.Unmarshaler]()
	quantity    = reflect.TypeFor[resource.Quantity]()
	bytesType   = reflect.TypeFor[[]byte]()

	// Quantities are compared digit by digit, and 1e999999999 has a billion digits.
	hugeQuantity = regexp.MustCompile(`[eE][+-]?[0-9]{3}|.{65}`)
)

// base64 checks bytes. It quotes none of them, because they may be a secret.
func (c *fieldCheck) base64(v any, path string) {
	text, ok := v.(string)
	if !ok {
		c.add(path, "expected text in base64, got %s", kindOf(v))
		return
	}
	if _, err := base64.StdEncoding.DecodeString(text); err != nil {
		c.add(path, "not base64: %w; plain text stands in stringData of a Secret, and in data of a ConfigMap", err)
	}
}

func (c *fieldCheck) object(v any, path string) (map[string]any, bool) {
	m, ok := v.(map[string]any)
	if !ok {
		odd := ""
		if text, ok := v.(string); ok && lookalike(text, false) != "" {
			odd = lookalikeInKey(text)
		}
		c.add(path, "expected an object, got %s%s", kindOf(v), odd)
	}
	return m, ok
}

func (c *fieldCheck) fields(m map[string]any, t reflect.Type, path, pattern string, refused bool) {
	known := c.members[t]
	if known == nil {
		known = membersOf(t)
		c.members[t] = known
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		at, row := join(path, cmp.Or(name, `""`)), join(pattern, name)
		member, ok := known[name]
		if len(c.faults) > api.MaxFaults {
			return
		}
		if !ok {
			near := ""
			if best, ok := nearest.Word(name, slices.Collect(maps.Keys(known))); ok {
				near = fmt.Sprintf("; did you mean %s?", best)
			}
			c.add(at, "unknown field%s%s", near, lookalikeInKey(name))
			continue
		}
		c.value(m[name], member, at, row, c.refuses(m[name], member, at, row, refused) || refused)
	}
}

func (c *fieldCheck) keys(m map[string]any, t reflect.Type, path, pattern string, refused bool) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		at, row := path+"["+key+"]", rowOfKey(pattern, key)
		if !isSupported(row) && m[key] == nil && !refused {
			// In a map, null is a key without a value, not an absent key.
			c.add(at, "not supported by this version yet")
			continue
		}
		c.value(m[key], t.Elem(), at, row, c.refuses(m[key], t.Elem(), at, row, refused) || refused)
	}
}

// rowOfKey returns the row of a key of a map: the row for all keys, the row for names of extended
// resources or of huge pages, or the key's own row.
func rowOfKey(pattern, key string) string {
	if row := pattern + ".*"; isSupported(row) {
		return row
	}
	if row := pattern + ".*/*"; isExtendedResource(v1.ResourceName(key)) && isSupported(row) {
		return row
	}
	if pod.IsHugePages(v1.ResourceName(key)) {
		key = v1.ResourceHugePagesPrefix + "*"
	}
	return join(pattern, key)
}

func isSupported(row string) bool {
	_, ok := supportOf(row)
	return ok
}

// mayBeEmpty are the unsupported fields that may be an empty object. status is not a part of the
// pod's spec, and kubectl writes it. An API server writes resources even if there are none.
var mayBeEmpty = []string{"status", "spec.ephemeralContainers[].resources"}

// ofAPI are the fields that only pods of an API server may have.
var ofAPI = []string{
	"spec.volumes[].projected.sources[].serviceAccountToken",
	"spec.ephemeralContainers", "spec.securityContext.windowsOptions", "spec.containers[].securityContext.windowsOptions",
	"spec.initContainers[].securityContext.windowsOptions",
}

// refuses adds a fault if the field of type t has a value that this version does not support. It
// adds one fault for all fields below it.
func (c *fieldCheck) refuses(v any, t reflect.Type, path, row string, refused bool) bool {
	s, known := supportOf(row)
	if c.static && slices.Contains(ofAPI, row) {
		known = false
	}
	// An empty string is a value only if the API distinguishes it from an absent one.
	blank := v == nil || v == "" && t.Kind() != reflect.Pointer
	switch {
	case refused, blank:
		return false
	case !known:
		// An empty object or list can have a meaning: an empty volume source is not the same as
		// none.
		if slices.Contains(mayBeEmpty, row) && empty(v) {
			return false
		}
		var asked []reference
		if c.static {
			asked = referencesIn(v, path, row)
		}
		for _, r := range asked[:min(len(asked), api.MaxFaults+1)] {
			c.add(r.path, "static pods may not reference %s", r.object)
		}
		if len(asked) == 0 {
			c.add(path, "not supported by this version yet")
		}
	case !s.allows(fmt.Sprint(v)):
		shown := cmp.Or(fmt.Sprint(v), `""`)
		if n, ok := v.(json.Number); ok {
			shown = c.tree.written(path, n)
		}
		c.add(path, "%s is not supported by this version yet; supported: %s", shown, strings.Join(s.only, ", "))
	default:
		return false
	}
	return true
}

func (c *fieldCheck) scalar(v any, t reflect.Type, path string) {
	switch t.Kind() {
	case reflect.String:
		if _, ok := v.(string); ok {
			return
		}
		hint := ""
		if _, list := v.([]any); !list && kindOf(v) != "an object" {
			hint = "; put it in quotes"
		}
		c.add(path, "expected a string, got %s%s", kindOf(v), hint)
	case reflect.Bool:
		if _, ok := v.(bool); !ok {
			c.add(path, "expected true or false, got %s", kindOf(v))
		}
	case reflect.Int, reflect.Int32, reflect.Int64:
		n, ok := v.(json.Number)
		if !ok {
			c.add(path, "expected a number, got %s", kindOf(v))
		} else if _, err := strconv.ParseInt(n.String(), 10, t.Bits()); err != nil {
			c.add(path, "expected a whole number of %d bits, got %s", t.Bits(), c.tree.written(path, n))
		}
	}
}

// empty reports whether a value is null or empty.
func empty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	default:
		return v == nil || v == ""
	}
}

func kindOf(v any) string {
	switch v.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	default:
		return "a number"
	}
}

// membersOf returns the JSON names of a struct's fields, including those of the structs that it
// inlines.
func membersOf(t reflect.Type) map[string]reflect.Type {
	members := map[string]reflect.Type{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && f.Anonymous {
			maps.Copy(members, membersOf(f.Type))
		} else if name != "" && name != "-" {
			members[name] = f.Type
		}
	}
	return members
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
