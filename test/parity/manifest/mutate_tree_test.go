package manifest

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// spot is a value within a document, and the object or list that holds the value.
type spot struct {
	in   any // the object or list that holds it
	key  string
	at   int
	typ  reflect.Type // the API's type of the value, nil if the value has none
	self any
}

func (s *spot) set(v any) {
	switch in := s.in.(type) {
	case map[string]any:
		in[s.key] = v
	case []any:
		in[s.at] = v
	}
}

// cutTree makes one random change in a document.
func cutTree(r *rand.Rand, doc map[string]any) {
	spots := spotsOf(doc)
	s := pick(r, spots)
	switch r.IntN(10) {
	case 0, 1:
		if in, ok := s.in.(map[string]any); ok {
			delete(in, s.key)
		} else {
			s.set(nil)
		}
	case 2:
		s.set(pick(r, dictionary()))
	case 3:
		s.set(valueOf(r, s.typ, 3))
	case 4:
		s.set(clone(pick(r, spots).self))
	case 5:
		if list, ok := s.self.([]any); ok && len(list) > 0 {
			s.set(append(slices.Clone(list), clone(pick(r, list))))
		} else {
			s.set([]any{s.self})
		}
	case 6:
		if in, ok := s.in.(map[string]any); ok {
			in[misspell(r, s.key)] = clone(s.self)
		}
	case 7:
		if list, ok := s.self.([]any); ok && len(list) > 1 {
			i, j := r.IntN(len(list)), r.IntN(len(list))
			list[i], list[j] = list[j], list[i]
		} else {
			s.set(valueOf(r, s.typ, 3))
		}
	default:
		insert(r, spots)
	}
}

// insert adds a field of the API to an object that may have the field.
func insert(r *rand.Rand, spots []spot) {
	objects := slices.DeleteFunc(slices.Clone(spots), func(s spot) bool {
		_, object := s.self.(map[string]any)
		return !object || len(membersOf(s.typ)) == 0
	})
	if len(objects) == 0 {
		return
	}
	s := pick(r, objects)
	members := membersOf(s.typ)
	name := pick(r, slices.Sorted(maps.Keys(members)))
	s.self.(map[string]any)[name] = valueOf(r, members[name], 3)
}

// spotsOf returns every value in a document, and the most important parts of a pod several times.
func spotsOf(doc map[string]any) []spot {
	var out []spot
	var walk func(v any, t reflect.Type)
	walk = func(v any, t reflect.Type) {
		if t != nil && t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		switch v := v.(type) {
		case map[string]any:
			members := membersOf(t)
			for _, key := range slices.Sorted(maps.Keys(v)) {
				member := members[key]
				if t != nil && t.Kind() == reflect.Map {
					member = t.Elem()
				}
				out = append(out, spot{in: v, key: key, typ: bare(member), self: v[key]})
				walk(v[key], member)
			}
		case []any:
			var item reflect.Type
			if t != nil && t.Kind() == reflect.Slice {
				item = t.Elem()
			}
			for i := range v {
				out = append(out, spot{in: v, at: i, typ: bare(item), self: v[i]})
				walk(v[i], item)
			}
		}
	}
	typ := reflect.TypeFor[v1.Pod]()
	if doc["items"] != nil {
		typ = reflect.TypeFor[v1.PodList]()
	}
	walk(doc, typ)
	if len(out) == 0 {
		out = append(out, spot{in: doc, key: "kind"})
	}
	return out
}

func bare(t reflect.Type) reflect.Type {
	if t != nil && t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// membersOf returns the fields of an API type by their JSON names.
func membersOf(t reflect.Type) map[string]reflect.Type {
	members := map[string]reflect.Type{}
	if t == nil || t.Kind() != reflect.Struct {
		return members
	}
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

// valueOf returns a random value for a field of the type.
func valueOf(r *rand.Rand, t reflect.Type, depth int) any {
	t = bare(t)
	if t == nil || r.IntN(12) == 0 {
		return pick(r, dictionary())
	}
	if t == reflect.TypeFor[resource.Quantity]() {
		return pick(r, []any{"1", "0", "250m", "64Mi", "-1", "1e3", json.Number("2"), "0.1", ""})
	}
	switch t.Kind() {
	case reflect.Bool:
		return r.IntN(2) == 0
	case reflect.Int, reflect.Int32, reflect.Int64:
		return json.Number(pick(r, []string{"0", "1", "-1", "80", "30", "65535", "65536", "2147483647", "9223372036854775807"}))
	case reflect.String:
		return pick(r, words)
	case reflect.Slice:
		if depth == 0 || r.IntN(3) == 0 {
			return []any{}
		}
		return []any{valueOf(r, t.Elem(), depth-1)}
	case reflect.Map:
		if depth == 0 || r.IntN(3) == 0 {
			return map[string]any{}
		}
		return map[string]any{pick(r, words): valueOf(r, t.Elem(), depth-1)}
	case reflect.Struct:
		out := map[string]any{}
		members := membersOf(t)
		names := slices.Sorted(maps.Keys(members))
		for range min(depth, len(names)) {
			name := pick(r, names)
			out[name] = valueOf(r, members[name], depth-1)
		}
		return out
	default:
		return pick(r, dictionary())
	}
}

// misspell returns a name with one letter missing, one letter added, or one letter in upper case.
func misspell(r *rand.Rand, name string) string {
	if name == "" {
		return "x"
	}
	i := r.IntN(len(name))
	switch r.IntN(3) {
	case 0:
		return name[:i] + name[i+1:]
	case 1:
		return name[:i] + strings.ToUpper(name[i:i+1]) + name[i+1:]
	default:
		return name[:i] + "x" + name[i:]
	}
}

// words are strings that are valid, or nearly valid, in some field.
var words = []string{
	"", "a", "web", "a.b", "A", "a_b", "-a", "a-", long(63), long(64), "a/b", "example.com/a", "a b", " a", "ä", "0", "1", "true", "null", "~", "yes",
	"logs", "scratch", "/a", "/logs", "..", "/a/../b", "relative", "127.0.0.1", "::1", "fe80::1%a", "Always", "Never", "OnFailure", "IfNotPresent",
	"ClusterFirst", "ClusterFirstWithHostNet", "Default", "None", "TCP", "UDP", "SCTP", "File", "FallbackToLogsOnError", "Memory", "HugePages",
	"Directory", "Socket", "Disabled", "Enabled", "IfPossible", "Bidirectional", "default-scheduler", "node-1", "node-2", "PreemptLowerPriority",
	"kube-system", "default", "$(A)", "i:latest", "i@sha256:" + long(64), "v1", "Pod", "kubernetes.io/config.source", "wardlet.dev/identity",
	"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Equal", "NoSchedule", "NoExecute", "PreferNoSchedule", "linux", "windows",
	"system-node-critical", "RuntimeDefault", "Localhost", "Unconfined", "metadata.name", "kernel.shm_rmid_forced", "net.ipv4.tcp_syncookies", "ephemeral-storage",
	"controller.kubernetes.io/pod-deletion-cost", "1Gi", "100m", "-1", "1e3", "1e999", "a=b", "\n", "a\u2028b", "\x00", "😀", "\u007f",
}

// dictionary are values of every kind.
func dictionary() []any {
	out := []any{
		nil, true, false,
		map[string]any{},
		[]any{},
		[]any{nil},
		[]any{""},
		[]any{map[string]any{}},
		map[string]any{"a": "b"},
		map[string]any{"name": "a"},
		map[string]any{"": ""},
		map[string]any{"cpu": "1"},
		map[string]any{"limits": map[string]any{}},
	}
	for _, n := range []string{"0", "1", "-1", "1.5", "80", "65535", "65536", "2147483648", "9223372036854775807", "9223372036854775808", "1e3", "1e400"} {
		out = append(out, json.Number(n))
	}
	for _, w := range words {
		out = append(out, w)
	}
	return out
}
