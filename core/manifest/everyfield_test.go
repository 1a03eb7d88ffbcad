package manifest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
)

// These are the states of fields that are not honoured.
const (
	stateRefused = "refused"
	stateAPIOnly = "API server only"
	stateIgnored = "ignored"
)

// section returns a section of docs/supported-fields.md.
func section(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/supported-fields.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(text), "\n## "+name+"\n")
	if !ok {
		t.Fatalf("no section %s", name)
	}
	section, _, _ := strings.Cut(after, "\n## ")
	return section
}

var quoted = regexp.MustCompile("`([^`]+)`")

// notHonoured returns the states of the fields that the document lists as not honoured.
func notHonoured(t *testing.T) map[string]string {
	t.Helper()
	states := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| (refused|API server only|ignored) \| (.*?) \| .* \|$`).FindAllStringSubmatch(section(t, "What is not honoured"), -1) {
		for _, field := range quoted.FindAllStringSubmatch(row[2], -1) {
			states[field[1]] = row[1]
		}
	}
	return states
}

// leaves calls found with the path of each field of a type that has no fields below it.
func leaves(t reflect.Type, path string, found func(path string)) {
	switch {
	case t.Kind() == reflect.Pointer:
		leaves(t.Elem(), path, found)
	case reflect.PointerTo(t).Implements(unmarshaler) || t == bytesType:
		found(path)
	case t.Kind() == reflect.Struct:
		for name, member := range membersOf(t) {
			leaves(member, join(path, name), found)
		}
	case t.Kind() == reflect.Slice:
		leaves(t.Elem(), path+"[]", found)
	case t.Kind() == reflect.Map:
		leaves(t.Elem(), path+".*", found)
	default:
		found(path)
	}
}

// below reports whether path is the field or a field below it.
func below(path, field string) bool {
	rest, ok := strings.CutPrefix(path, field)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// honoured reports whether the table of supported fields has a field, or has the map to which
// the field belongs and supports some of its keys.
func honoured(path string) bool {
	return isSupported(path) || slices.ContainsFunc([]string{"limits", "requests", "overhead"}, func(name string) bool {
		return strings.HasSuffix(path, "."+name+".*") && isSupported(strings.TrimSuffix(path, ".*"))
	})
}

func TestEveryFieldOfAPodSpecIsInOneOfTheTables(t *testing.T) {
	t.Parallel()
	states := notHonoured(t)
	used := map[string]bool{}
	leaves(reflect.TypeFor[v1.PodSpec](), "spec", func(path string) {
		fields := slices.DeleteFunc(sortedKeys(states), func(field string) bool { return !below(path, field) })
		for _, field := range fields {
			used[field] = true
		}
		switch {
		case honoured(path) && len(fields) > 0:
			t.Errorf("%s is honoured, and %q says that it is not", path, fields)
		case !honoured(path) && len(fields) == 0:
			t.Errorf("%s stands in no table", path)
		}
	})
	for field := range states {
		if !used[field] {
			t.Errorf("%s is no field of a PodSpec, or has none below it", field)
		}
	}
}

func sortedKeys(m map[string]string) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// some returns a value of a type that is not empty, in the form that JSON has for it.
func some(t reflect.Type) any {
	switch {
	case t.Kind() == reflect.Pointer:
		return some(t.Elem())
	case reflect.PointerTo(t).Implements(unmarshaler):
		return "1"
	}
	switch t.Kind() {
	case reflect.Struct:
		return map[string]any{}
	case reflect.Slice:
		return []any{some(t.Elem())}
	case reflect.Map:
		return map[string]any{"a": some(t.Elem())}
	case reflect.String:
		return "a"
	case reflect.Bool:
		return true
	default:
		return 1
	}
}

// saying returns a pod that sets one field.
func saying(t *testing.T, field string) []byte {
	t.Helper()
	container := func(name string) map[string]any { return map[string]any{"name": name, "image": "i"} }
	doc := map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "web"},
		"spec": map[string]any{"containers": []any{container("c")}},
	}
	in, typ := doc, reflect.TypeFor[v1.Pod]()
	steps := strings.Split(field, ".")
	for i, step := range steps {
		name, list := strings.CutSuffix(step, "[]")
		if typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		typ = membersOf(typ)[name]
		if i == len(steps)-1 {
			in[name] = some(typ)
			break
		}
		if list {
			typ = typ.Elem()
			items, _ := in[name].([]any)
			if items == nil {
				items = []any{container("x")}
				if name == "volumes" || name == "sources" {
					items = []any{map[string]any{}}
				}
				if name == "volumes" {
					items[0] = map[string]any{"name": "v"}
				}
				in[name] = items
			}
			in = items[0].(map[string]any)
			continue
		}
		next, _ := in[name].(map[string]any)
		if next == nil {
			next = map[string]any{}
			in[name] = next
		}
		in = next
	}
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestWhatIsNotHonouredIsRefused(t *testing.T) {
	t.Parallel()
	for field, state := range notHonoured(t) {
		text := saying(t, field)
		steps := strings.Split(field, ".")
		last, above := steps[len(steps)-1], strings.TrimSuffix(steps[len(steps)-2], "[]")
		docs := Decode(text, testFrom)
		if len(docs) == 0 || docs[0].Err == nil || !strings.Contains(docs[0].Err.Error(), last) && !strings.Contains(docs[0].Err.Error(), "ephemeralContainers") {
			t.Errorf("%s: a pod of a file that says so is not refused: %s", field, text)
		}
		p := new(v1.Pod)
		if err := json.Unmarshal(text, p); err != nil {
			t.Fatalf("%s: %v", field, err)
		}
		err := checkAPISpec(&p.Spec)
		if refused := err != nil && (strings.Contains(err.Error(), "."+last) || strings.HasSuffix(field, "resources."+last) && strings.Contains(err.Error(), "."+above+":")); refused != (state == stateRefused) {
			t.Errorf("%s is %s: an API server's pod that says so: %v", field, state, err)
		}
	}
}

// TestEveryHonouredFieldIsShownByATest checks that the document names a test for each supported
// field, and that the named tests exist.
func TestEveryHonouredFieldIsShownByATest(t *testing.T) {
	t.Parallel()
	passing, err := os.ReadFile("../../test/conformance/passing.txt")
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, row := range regexp.MustCompile(`(?m)^\| all of (.*?) \| (.*) \|$`).FindAllStringSubmatch(section(t, "Which tests show it"), -1) {
		for _, field := range quoted.FindAllStringSubmatch(row[1], -1) {
			shown = append(shown, field[1])
		}
		for _, name := range regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(row[2], -1) {
			if !regexp.MustCompile(`(?m)^\[[^\n]*\] ` + regexp.QuoteMeta(name[1])).Match(passing) {
				t.Errorf("no test of Kubernetes that passes begins with %q", name[1])
			}
		}
		for _, tests := range regexp.MustCompile("`([a-z0-9/]+)` (Test[^;|`\"]*)").FindAllStringSubmatch(row[2], -1) {
			for name := range strings.SplitSeq(tests[2], ",") {
				if !hasTest(t, tests[1], strings.TrimSpace(name)) {
					t.Errorf("%s has no test %s", tests[1], name)
				}
			}
		}
	}
	for _, s := range slices.Concat(supported, supportedOfAPI) {
		if !slices.ContainsFunc(shown, func(field string) bool { return below(s.path, field) }) {
			t.Errorf("%s is shown by no test", s.path)
		}
	}
}

// hasTest reports whether the package in a directory has a test with this name.
func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob("../../" + dir + "/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), fmt.Sprintf("func %s(", name)) {
			return true
		}
	}
	return false
}
