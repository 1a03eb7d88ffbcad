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

// What the predicates ask about a document, and how they take a difference
// out of it. Each answer comes from the API's own code or from a document,
// never from Wardlet.

// respell writes apiVersion and kind as they are written, and tells how many
// were not.
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

// sameForm writes the kubelet's quantities as Wardlet's are written where they
// are equal, and reports whether some were written otherwise.
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

// tolerating are the tolerations of a pod in a file that says these.
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

// systemPriority is that of a class which every cluster has, by the API's own
// table.
func systemPriority(class string) int32 {
	for _, c := range scheduling.SystemPriorityClasses() {
		if c.Name == class {
			return c.Value
		}
	}
	return 0
}

// prune takes out what is nested deeper.
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

// flowYAML reports whether a kubelet takes the text for JSON, which it is not.
func flowYAML(s *subject) bool {
	return strings.HasPrefix(strings.TrimSpace(string(s.text)), "{") && !json.Valid(s.text)
}

// unhuge takes out the numbers that are too great for a computer's.
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

// sameAsYAML reports whether a kubelet takes the same document written as
// block YAML.
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

// treeOf reads a document as a kubelet does: as JSON where it begins as JSON
// does.
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

// unknown reports whether the API's own strict decoder does not know the field
// either.
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

// duplicated reports whether a key stands twice in one object.
func duplicated(text []byte) bool {
	if json.Valid(text) {
		strict, err := kjson.UnmarshalStrict(text, &map[string]any{})
		return err == nil && len(strict) > 0
	}
	_, err := sigsyaml.YAMLToJSONStrict(text)
	return err != nil && strings.Contains(err.Error(), "already set in map")
}

// anywhere reports whether every text under the key, in metadata of the
// document or of an item, has the form.
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

// documented reports whether docs/supported-fields.md says that the field may
// have the value; no value stands for any.
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
