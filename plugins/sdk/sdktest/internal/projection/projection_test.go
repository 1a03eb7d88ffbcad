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

// vectors are cases of the ABI, for this package and for hosts.
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

// project gives the value of a path of a question in the notation of the
// vectors.
func project(tb testing.TB, path string, q *Question) any {
	tb.Helper()
	var p Projection
	if err := p.Declare(path); err != nil {
		tb.Fatal(err)
	}
	written, err := p.Record(q)
	if err != nil {
		tb.Fatal(err)
	}
	fields := make([]record.Value, 1)
	if err := record.Parse(string(written), fields); err != nil {
		tb.Fatal(err)
	}
	var plain any
	text, err := json.Marshal(notation(fields[0]))
	if err != nil {
		tb.Fatal(err)
	}
	decode(tb, string(text), &plain)
	return plain
}

func notation(v record.Value) any {
	switch v.Kind {
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
		if err := p.Declare(path); err == nil {
			t.Errorf("%q was accepted", path)
		}
		if len(p) != 0 {
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
	q := &Question{Operation: "UPDATE", Source: "static", Document: "/d/web.yaml#0", Node: "n1", Time: 1700000000123}
	for path, want := range map[string]any{
		"request.operation": "UPDATE", "request.source": "static", "request.document": "/d/web.yaml#0",
		"request.node": "n1", "request.replaces": nil, "request.time": json.Number("1700000000123"),
	} {
		if got := project(t, path, q); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
	q.Replaces = "u-0"
	if got := project(t, "request.replaces", q); got != "u-0" {
		t.Errorf("request.replaces: %v", got)
	}
}

func TestHandlesCountFromZero(t *testing.T) {
	var p Projection
	for range record.MaxFields {
		if err := p.Declare("request.node"); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Declare("request.node"); err != ErrTooMany { //nolint:errorlint // the very value
		t.Errorf("one path too many: %v", err)
	}
	written, err := p.Record(&Question{Node: "n"})
	if err != nil {
		t.Fatal(err)
	}
	fields := make([]record.Value, record.MaxFields)
	if err := record.Parse(string(written), fields); err != nil {
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
		if p.Declare(text) != nil {
			return
		}
		if _, err := p.Record(&Question{Object: map[string]any{}}); err != nil {
			t.Errorf("%q of an empty pod: %v", text, err)
		}
	})
}
