// Package clitest has helpers for tests of the commands: pods and their events, hostile texts to
// fill into everything that the commands print, and checks of the output.
package clitest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Noon is the value of every time in a filled value.
var Noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// Texts are texts that tenants may put into names, keys, values and messages.
var Texts = []string{
	"red \x1b[31m\x1b]0;title\x07", "a\nforged   row", "a\r\tb", "C1 \u009b31m\u0085", "bidi \u202eevil\u2066\u200f\u061c",
	"ends \u2028\u2029", "blank \u2800\u3164\u00a0\u200b", "\ufeff\u00ad", "byte \x9b\xff", "del \x7f\x00", "tag \U000e0041", "\n\n\nwardlet: forged",
	"ordinary", `\u202e \x1b stays`, "{{.}} %s %d",
}

// CheckVisible fails if text has anything but lines of visible characters.
func CheckVisible(t *testing.T, of, text string) {
	t.Helper()
	for _, r := range text {
		if r != '\n' && (!unicode.IsPrint(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)) {
			t.Errorf("%s prints %U: %q", of, r, text)
			return
		}
	}
}

// CheckRows fails if a foreign text creates a line, or a row of a table.
func CheckRows(t *testing.T, of, got, ordinary string) {
	t.Helper()
	outermost := func(text string) (n int) {
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, " ") {
				n++
			}
		}
		return n
	}
	if n, want := outermost(got), outermost(ordinary); n != want {
		t.Errorf("%s prints %d lines, of an ordinary text %d:\n%s\nordinary:\n%s", of, n, want, got, ordinary)
	}
}

// mostDepth is the depth to which a value is filled.
const mostDepth = 12

// Filled returns a T in which every text is s. Lists near the root have two elements; all other
// lists and all maps have one. Only the API server's own types nest deeper than Filled fills.
func Filled[T any](s string) T {
	var v T
	fill(reflect.ValueOf(&v).Elem(), s, mostDepth)
	return v
}

func fill(v reflect.Value, s string, depth int) {
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		*x = Noon
		return
	case *metav1.Time:
		*x = metav1.NewTime(Noon)
		return
	case *json.RawMessage:
		*x, _ = json.Marshal(s)
		return
	case *metav1.TypeMeta, *metav1.MicroTime, *metav1.FieldsV1, *[]byte:
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(1)
	case reflect.Pointer:
		if depth > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), s, depth-1)
		}
	case reflect.Slice:
		if depth > 0 {
			n := 1
			if depth > mostDepth-4 {
				n = 2
			}
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(v.Index(i), s, depth-1)
			}
		}
	case reflect.Map:
		if depth > 0 {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(key, s, depth-1)
			fill(value, s, depth-1)
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), s, depth-1)
			}
		}
	default: // interfaces and similar types stay empty
	}
}

// ReadFiles returns the texts of all files below a directory, by path.
func ReadFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir+"/")] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
