package manifest

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	scheduling "k8s.io/kubernetes/pkg/apis/scheduling/v1"
	kjson "sigs.k8s.io/json"
	sigsyaml "sigs.k8s.io/yaml"
)

// The functions below answer what the predicates ask about a document, and remove differences from
// a document. Each answer comes from the API's own code or from a document, never from Wardlet.

// respell corrects the case of letters in the keys apiVersion and kind, and returns how many keys
// it corrected.
func respell(doc map[string]any) int {
	changed := 0
	for key, v := range doc {
		for _, name := range []string{"apiVersion", "kind"} {
			if key != name && strings.EqualFold(key, name) {
				delete(doc, key)
				doc[name] = v
				changed++
			}
		}
	}
	return changed
}

func respelled(text []byte) int {
	doc, err := treeOf(text)
	if err != nil {
		return 0
	}
	return respell(doc)
}

// sameForm replaces the kubelet's quantities by Wardlet's where they are equal but spelled
// differently, and reports whether it replaced any.
func sameForm(k, w *v1.Pod) bool {
	changed := false
	same := func(k, w *resource.Quantity) {
		if k != nil && w != nil && k.Cmp(*w) == 0 && k.String() != w.String() {
			*k, changed = w.DeepCopy(), true
		}
	}
	lists := func(k, w v1.ResourceList) {
		for name, theirs := range k {
			if ours, ok := w[name]; ok {
				same(&theirs, &ours)
				k[name] = theirs
			}
		}
	}
	for i := range min(len(k.Spec.Containers), len(w.Spec.Containers)) {
		lists(k.Spec.Containers[i].Resources.Limits, w.Spec.Containers[i].Resources.Limits)
		lists(k.Spec.Containers[i].Resources.Requests, w.Spec.Containers[i].Resources.Requests)
	}
	for i := range min(len(k.Spec.Volumes), len(w.Spec.Volumes)) {
		if theirs, ours := k.Spec.Volumes[i].EmptyDir, w.Spec.Volumes[i].EmptyDir; theirs != nil && ours != nil {
			same(theirs.SizeLimit, ours.SizeLimit)
		}
	}
	return changed
}

// tolerating returns the tolerations that a pod from a file gets if the file has the tolerations
// said.
func tolerating(said []v1.Toleration) []v1.Toleration {
	all := v1.Toleration{Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute}
	out, found := slices.Clone(said), false
	for i := range out {
		forAWhile := out[i]
		forAWhile.TolerationSeconds = nil
		if forAWhile == all {
			out[i], found = all, true
		}
	}
	if !found {
		out = append(out, all)
	}
	return out
}

// systemPriority returns the priority of a class that every cluster has, from the API's own table.
func systemPriority(class string) int32 {
	for _, c := range scheduling.SystemPriorityClasses() {
		if c.Name == class {
			return c.Value
		}
	}
	return 0
}

// prune removes everything nested deeper than levels.
func prune(v any, levels int) any {
	if levels == 0 {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			v[key] = prune(inner, levels-1)
		}
	case []any:
		for i, inner := range v {
			v[i] = prune(inner, levels-1)
		}
	}
	return v
}

// flowYAML reports whether a kubelet reads the text as JSON although it is not JSON.
func flowYAML(s *subject) bool {
	return strings.HasPrefix(strings.TrimSpace(string(s.text)), "{") && !json.Valid(s.text)
}

// unhuge removes the numbers that are too large for a computer's numbers.
func unhuge(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			v[key] = unhuge(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = unhuge(inner)
		}
	case json.Number:
		if _, err := v.Float64(); err != nil {
			return nil
		}
	}
	return v
}

// sameAsYAML reports whether a kubelet accepts the same document written as block YAML.
func sameAsYAML(s *subject) bool {
	doc, err := treeOf(documents(s.text)[0])
	if err != nil {
		return false
	}
	_, err = kubelet(render(doc, false), s.at)
	return err == nil
}

func inList(s *subject, _ []string) bool {
	doc, err := treeOf(s.text)
	return err == nil && doc["kind"] == "PodList"
}

// treeOf parses a document as a kubelet does: valid JSON as JSON, any other text as YAML.
func treeOf(text []byte) (map[string]any, error) {
	if !json.Valid(text) {
		return tree(text)
	}
	var m map[string]any
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	return m, dec.Decode(&m)
}

func toJSON(text []byte) ([]byte, error) {
	if json.Valid(text) {
		return text, nil
	}
	return sigsyaml.YAMLToJSON(text)
}

// unknown reports whether the API's own strict decoder also rejects the field as unknown.
func unknown(text []byte, path string) bool {
	js, err := toJSON(text)
	if err != nil {
		return false
	}
	doc, err := treeOf(text)
	if err != nil {
		return false
	}
	for _, into := range []any{&v1.Pod{}, &v1.PodList{}} {
		strict, err := kjson.UnmarshalStrict(js, into)
		if err != nil {
			continue
		}
		for _, fault := range strict {
			name, ok := strings.CutPrefix(fault.Error(), "unknown field ")
			plain, err := strconv.Unquote(name)
			for _, at := range placesOf(doc, path) {
				if ok && (err == nil && strings.HasSuffix(plain, at.key) || strings.HasSuffix(strings.Trim(name, `"`), at.key)) {
					return true
				}
			}
		}
	}
	return false
}

// duplicated reports whether an object has a key twice.
func duplicated(text []byte) bool {
	if json.Valid(text) {
		strict, err := kjson.UnmarshalStrict(text, &map[string]any{})
		return err == nil && len(strict) > 0
	}
	_, err := sigsyaml.YAMLToJSONStrict(text)
	return err != nil && strings.Contains(err.Error(), "already set in map")
}

// anywhere reports whether all strings under the key match the form, in the metadata of the
// document and of its items.
func anywhere(text []byte, key string, form *regexp.Regexp) bool {
	doc, err := treeOf(text)
	if err != nil {
		return false
	}
	all := []any{any(doc)}
	if items, ok := doc["items"].([]any); ok {
		all = append(all, items...)
	}
	for _, one := range all {
		one, _ := one.(map[string]any)
		meta, _ := one["metadata"].(map[string]any)
		if s, ok := meta[key].(string); ok && (!form.MatchString(s) || strings.HasPrefix(s, "-") || strings.HasSuffix(s, "-")) {
			return false
		}
	}
	return true
}

var supportedRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (.*) \\|$")

// supportedFields are the rows of docs/supported-fields.md for static pods: a path, and
// the only values that are honoured, nil where any is.
var supportedFields = sync.OnceValue(func() map[string][]string {
	text, err := os.ReadFile("../../../docs/supported-fields.md")
	if err != nil {
		panic(err)
	}
	rows := map[string][]string{}
	static, _, _ := strings.Cut(string(text), "## Pods of an API server")
	for _, m := range supportedRow.FindAllStringSubmatch(static, -1) {
		rows[m[1]] = nil
		if values, ok := strings.CutPrefix(m[2], "only "); ok {
			values, _, _ = strings.Cut(values, ": ")
			rows[m[1]] = strings.Split(strings.ReplaceAll(values, "`", ""), ", ")
		}
	}
	return rows
})

// documented reports whether docs/supported-fields.md lists the field with the value; an empty
// value matches any.
func documented(path, value string) bool {
	for row, only := range supportedFields() {
		pattern := patternOf(path)
		if row != pattern && !strings.HasPrefix(row, pattern+".") && !strings.HasPrefix(row, pattern+"[]") {
			continue
		}
		if only == nil || value == "" {
			return true
		}
		if slices.Contains(only, value) {
			return true
		}
	}
	return false
}
