package abi

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
)

// filler sets every field below a value to a different value, as far as the field's type has
// that many values.
type filler struct{ next int }

func (f *filler) fill(v reflect.Value) {
	f.next++
	switch of := v.Addr().Interface().(type) {
	case *metav1.Time:
		*of = metav1.NewTime(time.Unix(int64(1e9+f.next), 0).UTC())
		return
	case *resource.Quantity:
		*of = resource.MustParse(strconv.Itoa(f.next) + []string{"m", "", "Mi", "k"}[f.next%4])
		return
	case *intstr.IntOrString:
		*of = intstr.FromInt32(int32(f.next))
		if f.next%2 == 0 {
			*of = intstr.FromString("port" + strconv.Itoa(f.next))
		}
		return
	case *metav1.FieldsV1:
		of.SetRawBytes([]byte("{}"))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("text" + strconv.Itoa(f.next))
	case reflect.Bool:
		v.SetBool(f.next%3 > 0)
	case reflect.Int32, reflect.Int64:
		v.SetInt(int64(f.next))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		f.fill(v.Index(0))
		f.fill(v.Index(1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for _, key := range []string{"b", "a"} {
			value := reflect.New(v.Type().Elem()).Elem()
			f.fill(value)
			v.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), value)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			if field.CanSet() {
				f.fill(field)
			}
		}
	}
}

// follow returns the value at a path in a document that encoding/json has read.
func follow(value any, steps []segment) any {
	if len(steps) == 0 {
		return value
	}
	switch s := steps[0]; s.kind {
	case segmentField, segmentKey:
		return follow(value.(map[string]any)[s.name], steps[1:])
	case segmentIndex:
		return follow(value.([]any)[s.index], steps[1:])
	}
	list := []any{}
	for _, element := range value.([]any) {
		list = append(list, follow(element, steps[1:]))
	}
	return list
}

// asJSON returns a value of a record as encoding/json would read it. It returns nil for
// false, because some fields omit false.
func asJSON(t *testing.T, value any) any {
	t.Helper()
	switch v := value.(type) {
	case bool:
		if !v {
			return nil
		}
	case int64:
		return float64(v)
	case map[string]string:
		m := map[string]any{}
		for key, text := range v {
			m[key] = text
		}
		return m
	case []any:
		list := []any{}
		for _, element := range v {
			list = append(list, asJSON(t, element))
		}
		return list
	case abitest.Raw:
		var decoded any
		if err := json.Unmarshal([]byte(v), &decoded); err != nil {
			t.Fatal(err)
		}
		return decoded
	}
	return value
}

// TestEveryFieldHasItsValue checks, for a pod with every field set, that each path leads to
// the value that encoding/json finds in the same place.
func TestEveryFieldHasItsValue(t *testing.T) {
	t.Parallel()
	var full v1.Pod
	(&filler{}).fill(reflect.ValueOf(&full).Elem())
	text, err := json.Marshal(&full)
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	count := 0
	check := func(path string) {
		count++
		steps, err := parsePath(path)
		if err != nil {
			t.Fatal(err)
		}
		got := abitest.ParseRecord(t, recordOf(t, declared(t, path), requestFor(&full)))[0]
		if diff := cmp.Diff(asJSON(t, follow(document, steps[1:])), asJSON(t, got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	every(reflect.TypeFor[v1.Pod](), "object", func(path string) {
		if strings.HasPrefix(path, "object.status") {
			return
		}
		check(path)
		if one := strings.ReplaceAll(path, "[*]", "[1]"); one != path {
			check(one)
		}
	})
	for _, path := range []string{
		"object.metadata.labels['b']", "object.metadata.annotations['a']", "object.spec.nodeSelector['a']", "object.spec.overhead['b']",
		"object.spec.containers[*].resources.limits['a']", "object.spec.containers[*].resources.requests['b']",
		"object.spec.volumes[*].csi.volumeAttributes['a']", "object.spec.volumes[*].flexVolume.options['b']",
	} {
		check(path)
	}
	if count < 1000 {
		t.Errorf("%d paths were checked, a pod has more", count)
	}
}

// exotic has a map of objects, which no document has yet.
type exotic struct {
	Maps map[string]struct {
		List []int64 `json:"list"`
	} `json:"maps"`
}

func TestAMapOfObjects(t *testing.T) {
	t.Parallel()
	v := exotic{Maps: map[string]struct {
		List []int64 `json:"list"`
	}{"a": {[]int64{1, 2}}}}
	for path, want := range map[string]any{
		"x.maps['a'].list": []any{int64(1), int64(2)}, "x.maps['a'].list[1]": int64(2), "x.maps['b'].list": abitest.Missing{}, "x.maps['b'].list[*]": []any{},
	} {
		steps, err := parsePath(path)
		if err != nil {
			t.Fatal(err)
		}
		program, err := compileType(reflect.TypeFor[exotic](), steps[1:], false)
		if err != nil {
			t.Fatal(err)
		}
		var r Record
		program.run(&r, reflect.ValueOf(&v).UnsafePointer())
		if diff := cmp.Diff(want, abitest.ParseValue(t, r.Out)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

func TestMapsOfAnySizeAreSorted(t *testing.T) {
	t.Parallel()
	var r Record
	for n := range 40 {
		m := map[string]string{}
		for i := range n {
			m[strconv.Itoa(i*7919%100)] = strconv.Itoa(i)
		}
		r.begin()
		r.texts(m)
		if diff := cmp.Diff(m, abitest.ParseValue(t, r.Out)); diff != "" { // parseValue requires the keys to be sorted
			t.Errorf("%d (-want +got):\n%s", n, diff)
		}
	}
}

func TestTheRecordKeepsNothingOfAPod(t *testing.T) {
	t.Parallel()
	var r Record
	r.texts(map[string]string{"key": "value"})
	r.amount(new(resource.MustParse("1Gi")))
	r.room(100)
	r.Reset(1000)
	if len(r.Out) != 0 || cap(r.Out) == 0 || r.entries[:1][0] != (entry{}) || !r.quantity.IsZero() {
		t.Errorf("%+v", r)
	}
	r.room(2000)
	if r.Reset(1000); cap(r.Out) > 0 {
		t.Errorf("%d bytes are kept", cap(r.Out))
	}
}

// TestRecordsAreWrittenWithoutAllocation covers what every policy reads in every call.
func TestRecordsAreWrittenWithoutAllocation(t *testing.T) {
	full := abitest.FullPod()
	full.Labels = map[string]string{"a": "1", "b": "2", "c": "3"}
	q := put(&Request{
		Question: &api.Question{Op: api.UpdateOp, Pod: full, Old: full, Origin: api.Origin{Source: "s", Document: "d"}},
		Time:     abitest.Time, Changed: []string{"labels"}, Node: nodeFacts(),
	})
	for _, path := range []string{
		"object.metadata.name", "object.metadata.labels", "object.metadata.labels['a']", "object.metadata.creationTimestamp",
		"object.spec.@containers[*].image", "object.spec.@containers[*].securityContext.privileged",
		"object.spec.containers[*].ports[*].hostPort", "object.spec.containers[*].livenessProbe.httpGet.port",
		"object.spec.containers[*].resources.limits['memory']", "object.spec.initContainers[*].command",
		"oldObject.spec.@containers[*].image", "request.operation", "request.time", "request.changed", "node.labels", "node.pods[*].hostPorts",
	} {
		p := declared(t, path)
		var r Record
		if n := testing.AllocsPerRun(100, func() { p.Write(&r, q, MaxRecord) }); n > 0 {
			t.Errorf("%s: %v allocations", path, n)
		}
	}
}
