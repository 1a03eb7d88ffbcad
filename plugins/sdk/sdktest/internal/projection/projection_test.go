package projection

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk/internal/record"
	"github.com/wardlet/wardlet/plugins/sdk/sdktest/internal/shape"
)

// vectors are test cases of the ABI, for this package and for hosts.
type vectors struct {
	Pods   map[string]any
	Values []struct {
		Pod, Path string
		Want      any
	}
	Refused []string
}

func readVectors(tb testing.TB) (v vectors) {
	tb.Helper()
	text, err := os.ReadFile("testdata/projection.json")
	if err != nil {
		tb.Fatal(err)
	}
	decode(tb, string(text), &v)
	return v
}

func decode(tb testing.TB, text string, into any) {
	tb.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		tb.Fatal(err)
	}
}

func checked(tb testing.TB, pod any) any {
	tb.Helper()
	of, err := shape.Named("Pod")
	if err != nil {
		tb.Fatal(err)
	}
	object, err := shape.Check(pod, of, "pod")
	if err != nil {
		tb.Fatal(err)
	}
	return object
}

// project returns the value of a path of a question in the notation of the
// vectors.
func project(tb testing.TB, path string, q *Question) any {
	tb.Helper()
	p := Projection{NodeRead: true}
	if _, err := p.Declare(path, false); err != nil {
		tb.Fatal(err)
	}
	written, err := p.Record(q)
	if err != nil {
		tb.Fatal(err)
	}
	var index record.Index
	if err := index.Parse(string(written), []uint16{0}); err != nil {
		tb.Fatal(err)
	}
	var plain any
	text, err := json.Marshal(notation(*index.Of(0)))
	if err != nil {
		tb.Fatal(err)
	}
	decode(tb, string(text), &plain)
	return plain
}

func notation(v record.Value) any {
	switch v.Kind() {
	case record.String:
		return v.Text()
	case record.Bool:
		return v.Bool()
	case record.Int:
		return v.Int()
	case record.List:
		list := make([]any, 0, v.Len())
		for element := range v.Elements() {
			list = append(list, notation(element))
		}
		return list
	case record.Map:
		return map[string]any{"map": maps.Collect(v.Entries())}
	case record.JSON:
		return map[string]any{"json": v.Text()}
	}
	return nil
}

func TestPathsGiveTheValuesOfTheABI(t *testing.T) {
	v := readVectors(t)
	for _, c := range v.Values {
		t.Run(c.Pod+" "+c.Path, func(t *testing.T) {
			got := project(t, c.Path, &Question{Object: checked(t, v.Pods[c.Pod])})
			if !reflect.DeepEqual(got, c.Want) {
				t.Errorf("got %v, want %v", got, c.Want)
			}
		})
	}
}

func TestPathsThatNameNoFieldAreRefused(t *testing.T) {
	for _, path := range readVectors(t).Refused {
		var p Projection
		if _, err := p.Declare(path, false); err == nil {
			t.Errorf("%q was accepted", path)
		}
		if len(p.fields) != 0 {
			t.Errorf("%q got a handle", path)
		}
	}
}

func TestOldObjectIsMissingOnlyWhereThereIsNone(t *testing.T) {
	old := checked(t, map[string]any{"spec": map[string]any{"hostPID": true}})
	for path, want := range map[string]any{
		"oldObject.spec.hostPID":              true,
		"oldObject.spec.containers[*].image":  []any{},
		"oldObject.metadata.labels['a']":      nil,
		"object.spec.hostPID":                 false,
		"object.spec.@containers[*].command":  []any{},
		"object.spec.initContainers[0].image": nil,
	} {
		q := &Question{Object: map[string]any{}, OldObject: old}
		if got := project(t, path, q); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
}

func TestFieldsOfTheRequest(t *testing.T) {
	q := &Question{Request: map[string]any{
		"operation": "UPDATE", "source": "static", "document": "/d/web.yaml#0", "node": "n1", "time": int64(1700000000123),
		"kind": "file", "changed": []any{"labels", "images"},
	}}
	for path, want := range map[string]any{
		"request.operation": "UPDATE", "request.source": "static", "request.document": "/d/web.yaml#0",
		"request.node": "n1", "request.replaces": nil, "request.time": json.Number("1700000000123"), "request.kind": "file",
		"request.tenant": nil, "request.clockSynchronized": false, "request.changed": []any{"labels", "images"},
	} {
		if got := project(t, path, q); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
}

func TestFactsAboutTheNodeNeedACapability(t *testing.T) {
	var p Projection
	if _, err := p.Declare("node.labels", false); err == nil || !strings.Contains(err.Error(), "node.read") {
		t.Errorf("got %v", err)
	}
}

func TestRootsBesideThePod(t *testing.T) {
	pod := map[string]any{"metadata": map[string]any{"name": "web"}}
	q := &Question{
		Node: map[string]any{"name": "n", "labels": map[string]any{"a": "b"}, "pods": []any{
			map[string]any{"namespace": "x", "name": "p", "priority": int64(0), "hostPorts": []any{int64(80)}},
			map[string]any{"namespace": "y"},
		}},
		Candidates: []any{
			map[string]any{"object": pod, "source": "s", "running": true, "firstSeen": int64(7)},
			map[string]any{"object": map[string]any{}},
		},
	}
	whole := `{"namespace":"y","name":"","uid":"","source":"","priority":0}`
	for path, want := range map[string]any{
		"node.name": "n", "node.labels": map[string]any{"map": map[string]any{"a": "b"}}, "node.allocatable": nil,
		"node.pods[*].namespace": []any{"x", "y"}, "node.pods[0].priority": json.Number("0"), "node.pods[1].uid": "",
		"node.pods[*].hostPorts[*]": []any{[]any{json.Number("80")}, []any{}}, "node.pods[1]": map[string]any{"json": whole},
		"node.pods[*].labels":  []any{nil, nil},
		"candidates[*].source": []any{"s", ""}, "candidates[*].running": []any{true, false},
		"candidates[*].firstSeen": []any{json.Number("7"), nil}, "candidates[1].object.metadata.name": nil,
		"candidates[0].object.metadata.name": "web", "candidates[2].source": nil,
		"candidates[*].object.spec.containers[*].image": []any{[]any{}, []any{}},
		"object.spec.hostPID":                           nil, "object.spec.containers[*].image": nil,
	} {
		if got := project(t, path, q); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
	if got := project(t, "candidates[*].source", &Question{}); !reflect.DeepEqual(got, []any{}) {
		t.Errorf("without candidates: %v", got)
	}
	if got := project(t, "node.pods[*].name", &Question{}); got != nil {
		t.Errorf("without facts: %v", got)
	}
}

func TestRootsNeedTheirFields(t *testing.T) {
	p := Projection{NodeRead: true}
	for _, path := range []string{
		"node", "node.x", "node[0]", "node.name.x", "node.pods.name", "candidates", "candidates.source", "candidates[*]",
		"candidates[0]", "candidates[*].object", "candidates[*].object[0]", "candidates[*].object.status", "candidates[*].x",
		"candidates[*][*].source", "candidates[*].object.spec.x", "request.x", "request.node.name", "request", "candidates['a'].source.x",
	} {
		if _, err := p.Declare(path, false); err == nil {
			t.Errorf("%q was accepted", path)
		}
	}
}

func TestDocumentsAreWhole(t *testing.T) {
	pod := checked(t, map[string]any{
		"metadata": map[string]any{"name": "web", "managedFields": []any{map[string]any{"manager": "x"}}},
		"spec":     map[string]any{"containers": []any{map[string]any{"name": "a"}}},
		"status":   map[string]any{"phase": "Running"},
	})
	q := &Question{
		Object: pod, Request: map[string]any{"hook": "admit", "node": "n", "time": int64(5)},
		Node: map[string]any{"name": "n"}, Candidates: []any{map[string]any{"object": pod}},
	}
	web := `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web"},"spec":{"containers":[{"name":"a","resources":{}}]}}`
	for number, want := range map[int]string{
		0: `{"hook":"admit","node":"n","time":5,"clockSynchronized":false}`, 1: web, 2: "", 3: `{"name":"n"}`,
		4: "", 15: "", 16: web, 17: "", -1: "",
	} {
		got, ok, err := q.Document(number)
		if err != nil || ok != (want != "") || string(got) != want {
			t.Errorf("%d: %s, %v, %v", number, got, ok, err)
		}
	}
}

func TestLazyFieldsAreNotInTheRecord(t *testing.T) {
	var p Projection
	for i, path := range []string{"request.node", "request.hook", "request.time"} {
		if handle, err := p.Declare(path, i == 1); err != nil || handle != i {
			t.Fatal(handle, err)
		}
	}
	q := &Question{Request: map[string]any{"node": "n", "hook": "admit", "time": int64(1)}}
	written, err := p.Record(q)
	if err != nil || written[0] != 2 {
		t.Errorf("% x, %v", written, err)
	}
	if err := new(record.Index).Parse(string(written), []uint16{0, 2}); err != nil {
		t.Error(err)
	}
	value, ok, err := p.Value(1, q)
	if v, parsed := record.ParseValue(string(value)); err != nil || !ok || parsed != nil || v.Text() != "admit" {
		t.Errorf("% x, %v, %v", value, ok, err)
	}
	if _, ok, _ := p.Value(3, q); ok {
		t.Error("there is a field 3")
	}
}

func TestHandlesCountFromZero(t *testing.T) {
	var p Projection
	for range record.MaxFields {
		if _, err := p.Declare("request.node", false); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Declare("request.node", false); err != ErrTooMany { //nolint:errorlint // the very value
		t.Errorf("one path too many: %v", err)
	}
	written, err := p.Record(&Question{Request: map[string]any{"node": "n"}})
	if err != nil {
		t.Fatal(err)
	}
	var handles []uint16
	for handle := range uint16(record.MaxFields) {
		handles = append(handles, handle)
	}
	if err := new(record.Index).Parse(string(written), handles); err != nil {
		t.Error(err)
	}
	if !bytes.HasPrefix(written, []byte{64, 0, 0, 0, 1, 1, 0, 0, 0, 'n', 1, 0, 1}) {
		t.Errorf("the record begins with % x", written[:13])
	}
}

func TestPathsHaveLimits(t *testing.T) {
	for name, path := range map[string]string{
		"too long":      "object.metadata.labels['" + strings.Repeat("x", maxPathBytes) + "']",
		"too many":      "object" + strings.Repeat("[0]", maxSegments),
		"invalid UTF-8": "object.metadata.labels['\xff']",
	} {
		if _, err := ParsePath(path); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := ParsePath("object" + strings.Repeat("[0]", maxSegments-1)); err != nil {
		t.Error(err)
	}
}

func FuzzParsePath(f *testing.F) {
	for _, c := range readVectors(f).Values {
		f.Add(c.Path)
	}
	for _, path := range readVectors(f).Refused {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, text string) {
		segments, err := ParsePath(text)
		if err != nil {
			return
		}
		if len(segments) == 0 || len(segments) > maxSegments || segments[0].kind != segmentField {
			t.Errorf("%q: %v", text, segments)
		}
		var p Projection
		if _, err := p.Declare(text, false); err != nil {
			return
		}
		if _, err := p.Record(&Question{Object: map[string]any{}}); err != nil {
			t.Errorf("%q of an empty pod: %v", text, err)
		}
	})
}
