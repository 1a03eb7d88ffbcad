package config

import (
	"cmp"
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Change is a key for which two configurations have different values.
type Change struct {
	// Key is the key as in the file. An element of an array of tables is shown with its name, as in
	// "source[fleet].url". Without a key after it, the element was added or removed. The array alone
	// means that the order of its elements changed.
	Key string `json:"key"`
	// Restart is true if only a restart applies the new value, and Why is the reason.
	Restart bool   `json:"restart"`
	Why     string `json:"why,omitempty"`
	// From and To are the values, at most 200 characters each, without the queries of URLs.
	From string `json:"from"`
	To   string `json:"to"`
}

// The values shown for an element of an array of tables.
const (
	present = "present"
	absent  = "absent"
)

// Compare returns the keys that differ in next, in the order of the schema, and none if the
// configurations are equivalent. Both must come from Load.
func Compare(old, next *Config) []Change {
	c := &comparison{}
	c.table("", "", reflect.ValueOf(old).Elem(), reflect.ValueOf(next).Elem())
	return c.changes
}

type comparison struct{ changes []Change }

func (c *comparison) add(key, rule, from, to string) {
	change := Change{Key: key, From: shown(rule, from), To: shown(rule, to)}
	if !liveKeys[rule] {
		change.Restart, change.Why = true, cmp.Or(restartKeys[rule], whyStart)
	}
	c.changes = append(c.changes, change)
}

// table compares two structs. key is their path as changes show it. rule is the same path in the
// form of the tables in reload.go.
func (c *comparison) table(key, rule string, old, next reflect.Value) {
	for i := range old.NumField() {
		name := keyOf(old.Type().Field(i))
		if name == "" {
			continue
		}
		c.value(joinKey(key, name), joinKey(rule, name), old.Field(i), next.Field(i))
	}
}

func (c *comparison) value(key, rule string, old, next reflect.Value) {
	switch {
	case isTable(old.Type()):
		c.table(key, rule, old, next)
	case isTables(old.Type()):
		c.elements(key, rule, old, next)
	case !equal(old, next):
		c.add(key, rule, render(old), render(next))
	}
}

// elements compares two arrays of tables. It matches their elements by name.
func (c *comparison) elements(key, rule string, old, next reflect.Value) {
	was, is := names(old), names(next)
	each := rule + "[]"
	for i, name := range was {
		at := key + "[" + name + "]"
		if j := slices.Index(is, name); j >= 0 {
			c.value(at, each, old.Index(i), next.Index(j))
		} else {
			c.add(at, each, present, absent)
		}
	}
	for _, name := range is {
		if !slices.Contains(was, name) {
			c.add(key+"["+name+"]", each, absent, present)
		}
	}
	if _, ordered := restartKeys[rule]; !ordered {
		return
	}
	stayed, stay := common(was, is), common(is, was)
	if !slices.Equal(stayed, stay) {
		c.add(key, rule, strings.Join(stayed, ", "), strings.Join(stay, ", "))
	}
}

// common returns the elements of list that are also in other.
func common(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return !slices.Contains(other, s) })
}

// names returns the names of the elements of an array of tables, or their indices.
func names(list reflect.Value) []string {
	all := make([]string, list.Len())
	for i := range all {
		all[i] = strconv.Itoa(i)
		for j := range list.Type().Elem().NumField() {
			if key := keyOf(list.Type().Elem().Field(j)); key == "name" || key == "class" {
				all[i] = list.Index(i).Field(j).String()
			}
		}
	}
	return all
}

// keyOf returns the key of a field, empty for a field that is not in the file.
func keyOf(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("toml"), ",")
	if name == "-" {
		return ""
	}
	return name
}

func joinKey(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

var textType = reflect.TypeFor[encoding.TextUnmarshaler]()

// isTable reports whether values of a type are written as a table.
func isTable(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && !reflect.PointerTo(t).Implements(textType)
}

// isTables reports whether values of a type are written as an array of tables.
func isTables(t reflect.Type) bool { return t.Kind() == reflect.Slice && isTable(t.Elem()) }

// equal compares two values. A nil list equals an empty one.
func equal(old, next reflect.Value) bool {
	if kind := old.Kind(); (kind == reflect.Slice || kind == reflect.Map) && old.Len() == 0 && next.Len() == 0 {
		return true
	}
	return reflect.DeepEqual(old.Interface(), next.Interface())
}

// render formats a value for people.
func render(v reflect.Value) string {
	if list, ok := reflect.TypeAssert[[]string](v); ok {
		return strings.Join(list, ", ")
	}
	return fmt.Sprint(v.Interface())
}

// maxShown is the maximum number of characters of a shown value.
const maxShown = 200

// shown returns the text of a value without secrets. The query of a URL may contain one.
func shown(rule, text string) string {
	if rule == "source[].url" {
		if address, _, query := strings.Cut(text, "?"); query {
			text = address + "?..."
		}
	}
	if runes := []rune(text); len(runes) > maxShown {
		return string(runes[:maxShown-3]) + "..."
	}
	return text
}
