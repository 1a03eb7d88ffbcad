package shape

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func named(tb testing.TB, name string) *Type {
	tb.Helper()
	of, err := Named(name)
	if err != nil {
		tb.Fatal(err)
	}
	return of
}

func decode(tb testing.TB, text string) (value any) {
	tb.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		tb.Fatal(err)
	}
	return value
}

func TestTheShapeIsThatOfAPod(t *testing.T) {
	pod := named(t, "Pod")
	spec, ok := pod.Field("spec")
	if !ok || spec.Type != named(t, "PodSpec") || !spec.OmitEmpty {
		t.Errorf("spec: %+v", spec)
	}
	containers, ok := spec.Type.Field("containers")
	if !ok || containers.OmitEmpty || containers.Type.Kind != List || containers.Type.Elem != named(t, "Container") {
		t.Errorf("containers: %+v", containers)
	}
	context, ok := containers.Type.Elem.Field("securityContext")
	if !ok || context.Type.Kind != Pointer {
		t.Errorf("securityContext: %+v", context)
	}
	meta := named(t, "ObjectMeta")
	created, ok := meta.Field("creationTimestamp")
	if !ok || created.Type.Kind != Time || !created.OmitZero {
		t.Errorf("creationTimestamp: %+v", created)
	}
	if _, ok := pod.Field("specs"); ok {
		t.Error("there is a field specs")
	}
	if _, err := Named("Podd"); err == nil {
		t.Error("there is a type Podd")
	}
}

func TestCheckGivesTheFormPoliciesSee(t *testing.T) {
	got, err := Check(decode(t, `{
		"metadata": {"name": "web", "creationTimestamp": "2026-01-02T03:04:05.5+01:00", "labels": null, "annotations": {}},
		"spec": {"containers": [{"ports": [{"containerPort": 80}], "tty": false,
			"resources": {"limits": {"cpu": 2, "memory": "1500Mi"}},
			"livenessProbe": {"httpGet": {"port": 80}}, "readinessProbe": {"httpGet": {"port": "http"}}}]}
	}`), named(t, "Pod"), "pod")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"metadata": map[string]any{"name": "web", "creationTimestamp": "2026-01-02T02:04:05Z", "annotations": map[string]any{}},
		"spec": map[string]any{"containers": []any{map[string]any{
			"ports": []any{map[string]any{"containerPort": int64(80)}}, "tty": false,
			"resources":      map[string]any{"limits": map[string]any{"cpu": "2", "memory": "1500Mi"}},
			"livenessProbe":  map[string]any{"httpGet": map[string]any{"port": int64(80)}},
			"readinessProbe": map[string]any{"httpGet": map[string]any{"port": "http"}},
		}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestCheckSaysWhereAPodIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		`7`:                                          "pod: want an object, found 7",
		`{"metadata": []}`:                           "pod.metadata: want an object, found a list",
		`{"speck": {}}`:                              "pod.speck: there is no such field",
		`{"metadata": {"name": true}}`:               "pod.metadata.name: want a string, found true",
		`{"metadata": {"labels": {"a": 1}}}`:         "pod.metadata.labels['a']: want a string, found 1",
		`{"metadata": {"labels": {"a": null}}}`:      "pod.metadata.labels['a']: null means nothing here",
		`{"metadata": {"labels": "a"}}`:              `pod.metadata.labels: want an object, found "a"`,
		`{"metadata": {"creationTimestamp": "now"}}`: `pod.metadata.creationTimestamp: want a time`,
		`{"metadata": {"creationTimestamp": "0001-01-01T00:00:00Z"}}`:                `the zero time`,
		`{"spec": {"containers": {}}}`:                                               "pod.spec.containers: want a list, found an object",
		`{"spec": {"containers": [null]}}`:                                           "pod.spec.containers[0]: null means nothing here",
		`{"spec": {"containers": [{"imgae": "x"}]}}`:                                 "pod.spec.containers[0].imgae: there is no such field",
		`{"spec": {"containers": [{"ports": [{"hostPort": "80"}]}]}}`:                `pod.spec.containers[0].ports[0].hostPort: want an integer, found "80"`,
		`{"spec": {"priority": 3000000000}}`:                                         "pod.spec.priority: want an integer from -2147483648 to 2147483647, found 3000000000",
		`{"spec": {"terminationGracePeriodSeconds": 1.5}}`:                           "want an integer",
		`{"spec": {"terminationGracePeriodSeconds": 1e3}}`:                           "want an integer",
		`{"spec": {"hostNetwork": "true"}}`:                                          `pod.spec.hostNetwork: want true or false, found "true"`,
		`{"spec": {"overhead": {"cpu": "0.5"}}}`:                                     `pod.spec.overhead['cpu']: quantity "0.5" is not in the form in which policies see it`,
		`{"spec": {"overhead": {"cpu": true}}}`:                                      `want a quantity, found true`,
		`{"spec": {"containers": [{"livenessProbe": {"httpGet": {"port": true}}}]}}`: "httpGet.port: want an integer, found true",
	} {
		_, err := Check(decode(t, text), named(t, "Pod"), "pod")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

func TestCheckReportsEveryFault(t *testing.T) {
	_, err := Check(decode(t, `{"a": 1, "spec": {"b": 1, "containers": [{"c": 1}, {"d": 1}]}}`), named(t, "Pod"), "pod")
	for _, field := range []string{"pod.a", "pod.spec.b", "pod.spec.containers[0].c", "pod.spec.containers[1].d"} {
		if err == nil || !strings.Contains(err.Error(), field+":") {
			t.Errorf("%s is not in %v", field, err)
		}
	}
}

// The agent writes each quantity in one canonical form. Other forms of the same quantity
// are refused.
func TestQuantitiesHaveOneForm(t *testing.T) {
	for _, text := range []string{"0", "1", "500m", "1500m", "2k", "1Gi", "1500Mi", "1023Ki", "-5", "100n", "12345678", "9M", "4E", "3Ei"} {
		if got, err := checkQuantity(text); err != nil || got != text {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "1000", "1000m", "2000Mi0", "1024Mi", "2048Ki", "0.5", "1.0", "01", "+1", "-0", "0m", "1e3", "1E3", "1 Gi", "1gi",
		"1KiB", "9E", "8Ei", "5000000000000E", "9223372036854775807", "m", "Gi",
	} {
		if got, err := checkQuantity(text); err == nil {
			t.Errorf("%q was accepted as %v", text, got)
		}
	}
}

func TestTornShapesAreErrors(t *testing.T) {
	for _, text := range []string{
		"\tname string", "A\n\tname", "A\n\tname string omitempty more", "A\n\tname strong", "A\n\tname []strong",
		"A\n\tname string sometimes", "A\n\tname B",
	} {
		if _, err := parse(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
	got, err := parse("A\n\tb *[]map:B omitempty,omitzero\nB\n")
	if err != nil {
		t.Fatal(err)
	}
	f, _ := got["A"].Field("b")
	if f.Type.Kind != Pointer || f.Type.Elem.Kind != List || f.Type.Elem.Elem.Kind != Map || f.Type.Elem.Elem.Elem != got["B"] ||
		!f.OmitEmpty || !f.OmitZero {
		t.Errorf("got %+v", f)
	}
}

func TestRenderWritesWhatTheAPIWrites(t *testing.T) {
	for name, test := range map[string]struct{ of, pod, want string }{
		"fields in the API's order":         {"Container", `{"image": "i", "name": "n"}`, `{"name":"n","image":"i","resources":{}}`},
		"fields that are not optional":      {"PodSpec", `{}`, `{"containers":null}`},
		"an empty list that was written":    {"PodSpec", `{"containers": [], "volumes": []}`, `{"containers":[]}`},
		"optional zeros left out":           {"Container", `{"name": "", "tty": false, "command": [], "workingDir": ""}`, `{"name":"","resources":{}}`},
		"a pointer to zero":                 {"PodSpec", `{"containers": [], "priority": 0, "enableServiceLinks": false}`, `{"containers":[],"priority":0,"enableServiceLinks":false}`},
		"numbers that are not optional":     {"ContainerPort", `{}`, `{"containerPort":0}`},
		"maps sorted, text escaped":         {"ObjectMeta", `{"labels": {"b": "<", "a&": ""}}`, `{"labels":{"a\u0026":"","b":"\u003c"}}`},
		"a missing time left out":           {"ObjectMeta", `{}`, `{}`},
		"a missing quantity":                {"ResourceFieldSelector", `{"resource": "r"}`, `{"resource":"r","divisor":"0"}`},
		"a missing port":                    {"TCPSocketAction", `{}`, `{"port":0}`},
		"a port by name":                    {"TCPSocketAction", `{"port": "http"}`, `{"port":"http"}`},
		"a bool that is not optional":       {"ContainerStatus", `{}`, `{"name":"","state":{},"lastState":{},"ready":false,"restartCount":0,"image":"","imageID":""}`},
		"what has a form of its own, as is": {"ManagedFieldsEntry", `{"fieldsV1": {"f:x": {}}}`, `{"fieldsV1":{"f:x":{}}}`},
		"a nil pointer that is mandatory":   {"PodSpec", `{"containers": [{"name": "a", "livenessProbe": {"grpc": {"port": 1}}}]}`, `{"containers":[{"name":"a","resources":{},"livenessProbe":{"grpc":{"port":1,"service":null}}}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			of := named(t, test.of)
			value, err := Check(decode(t, test.pod), of, "value")
			if err != nil {
				t.Fatal(err)
			}
			got, err := Render(value, of)
			if err != nil || string(got) != test.want {
				t.Errorf("got %s, %v, want %s", got, err, test.want)
			}
		})
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(`{"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "ports": [{"containerPort": 1}]}]}}`)
	f.Add(`{"spec": {"overhead": {"cpu": "1Gi"}, "volumes": [{"emptyDir": {"sizeLimit": 5}}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var value any
		if d.Decode(&value) != nil {
			return
		}
		pod := named(t, "Pod")
		checked, err := Check(value, pod, "pod")
		if err != nil || checked == nil {
			return
		}
		written, err := Render(checked, pod)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Check(decode(t, string(written)), pod, "pod")
		if err != nil {
			t.Fatalf("%s: %v", written, err)
		}
		if rewritten, err := Render(again, pod); err != nil || string(rewritten) != string(written) {
			t.Errorf("%s becomes %s, %v", written, rewritten, err)
		}
	})
}
