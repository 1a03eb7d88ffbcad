package abi

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
)

// everything are all capabilities.
var everything = CapabilitySet{Node: true, References: true}

// declared returns a projection of some paths.
func declared(tb testing.TB, paths ...string) *Projection {
	tb.Helper()
	p := &Projection{}
	for _, path := range paths {
		if err := p.Declare(path, false, everything); err != nil {
			tb.Fatalf("%s: %v", path, err)
		}
	}
	return p
}

// put returns the query of a request on the node "node-1".
func put(r *Request) *Query {
	q := &Query{}
	q.SetPod(HookAdmit, r, everything)
	q.SetNode("node-1", r.Node, everything)
	return q
}

// recordOf returns the record of a request.
func recordOf(tb testing.TB, p *Projection, r *Request) []byte {
	tb.Helper()
	var out Record
	p.Write(&out, put(r), MaxRecord)
	if out.Err != nil {
		tb.Error(out.Err)
	}
	return out.Out
}

func TestValuesOfPaths(t *testing.T) {
	t.Parallel()
	type list = []any
	none := abitest.Missing{}
	for path, want := range map[string]any{
		// single values
		"object.metadata.name":                      "web",
		"object.metadata.uid":                       "uid-1",
		"object.metadata.generateName":              none,
		"object.metadata.creationTimestamp":         "2026-01-02T03:04:05Z",
		"object.metadata.deletionTimestamp":         none,
		"object.spec.hostNetwork":                   true,
		"object.spec.hostPID":                       false,
		"object.spec.terminationGracePeriodSeconds": int64(0),
		"object.spec.activeDeadlineSeconds":         none,
		"object.spec.restartPolicy":                 none,
		// maps
		"object.metadata.labels": map[string]string{
			"b": "2", "a": "1", "app.kubernetes.io/name": "web", "empty": "", "it's": `a\b`,
		},
		"object.metadata.labels['app.kubernetes.io/name']": "web",
		"object.metadata.labels['empty']":                  "",
		"object.metadata.labels['absent']":                 none,
		`object.metadata.labels['it\'s']`:                  `a\b`,
		"object.metadata.annotations":                      none,
		"object.metadata.annotations['x']":                 none,
		"object.spec.containers[0].resources.limits":       abitest.Raw(`{"cpu":"1500m","memory":"1Gi"}`),
		"object.spec.containers[1].resources.limits":       none,
		// quantities, IntOrString
		"object.spec.containers[*].resources.limits['memory']":          list{"1Gi", none},
		"object.spec.volumes[*].emptyDir.sizeLimit":                     list{none, "64Mi"},
		"object.spec.containers[*].livenessProbe.httpGet.port":          list{"http", int64(8081)},
		"object.spec.containers[0].securityContext.privileged":          false,
		"object.spec.containers[*].securityContext.runAsUser":           list{int64(0), none},
		"object.spec.containers[*].ports[*].hostPort":                   list{list{int64(80), none}, list{}},
		"object.spec.containers[*].ports[*].containerPort":              list{list{int64(8080), int64(9090)}, list{}},
		"object.spec.containers[*].securityContext.capabilities.add[*]": list{list{"NET_ADMIN", "SYS_TIME"}, list{}},
		"object.spec.containers[*].securityContext.capabilities.add":    list{list{"NET_ADMIN", "SYS_TIME"}, none},
		// lists
		"object.spec.initContainers[0].command":    list{"a", "", "c"},
		"object.spec.initContainers[*].command[*]": list{list{"a", "", "c"}},
		"object.spec.initContainers[0].args":       none,
		"object.spec.initContainers[0].args[*]":    list{},
		"object.spec.initContainers[0].command[2]": "c",
		"object.spec.initContainers[0].command[3]": none,
		"object.spec.containers[7].image":          none,
		"object.spec.containers[7].ports[*].name":  list{},
		"object.spec.tolerations[*].key":           list{},
		"object.spec.tolerations":                  none,
		"object.metadata.ownerReferences[*].kind":  list{"ReplicaSet", "Other"},
		"object.spec.volumes[*].hostPath.path":     list{"/data", none},
		"object.spec.containers[*].name":           list{"web", "side"},
		// objects
		"object.spec.volumes[0].hostPath":     abitest.Raw(`{"path":"/data"}`),
		"object.spec.volumes[*]":              list{abitest.Raw(`{"name":"data","hostPath":{"path":"/data"}}`), abitest.Raw(`{"name":"tmp","emptyDir":{"sizeLimit":"64Mi"}}`)},
		"object.spec.containers[1].resources": abitest.Raw(`{}`),
		"object.spec.affinity":                none,
		// all containers
		"object.spec.@containers[*].image":               list{"busybox", "nginx:1", none, "alpine"},
		"object.spec.@containers[*].name":                list{"init", "web", "side", "debug"},
		"object.spec.@containers[*].targetContainerName": list{none, none, none, "web"},
		"object.spec.@containers[*].ports[*].hostPort":   list{list{}, list{int64(80), none}, list{}, list{}},
		"object.spec.@containers[0].image":               "busybox",
		"object.spec.@containers[3].image":               "alpine",
		"object.spec.@containers[4].image":               none,
		"object.spec.@containers[4].ports[*].hostPort":   list{},
		"object.spec.@containers[0].targetContainerName": none,
		"object.spec.@containers[3]":                     abitest.Raw(`{"name":"debug","image":"alpine","resources":{},"targetContainerName":"web"}`),
		// the old object, and the request
		"oldObject.metadata.name":            none,
		"oldObject.spec.containers[*].image": none,
		"request.operation":                  "ADD",
		"request.source":                     "manifests",
		"request.document":                   "/m/web.yaml#0",
		"request.replaces":                   none,
		"request.node":                       "node-1",
		"request.time":                       abitest.Time.UnixMilli(),
	} {
		if diff := cmp.Diff(want, abitest.ParseRecord(t, recordOf(t, declared(t, path), requestFor(abitest.FullPod())))[0]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

func TestValuesOfAPodThatIsReplaced(t *testing.T) {
	t.Parallel()
	q := requestFor(abitest.FullPod())
	q.Question.Op, q.Question.Old, q.Question.Replaces = api.UpdateOp, abitest.Pod("old"), "uid-0"
	p := declared(t, "oldObject.spec.@containers[*].image", "oldObject.spec.initContainers[*].image", "request.replaces", "request.operation")
	record := recordOf(t, p, q)
	want := []any{[]any{"old"}, []any{}, "uid-0", "UPDATE"}
	if diff := cmp.Diff(want, abitest.ParseRecord(t, record)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAnEmptyPodHasNoContainers(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]any{
		"object.spec.@containers":            abitest.Missing{},
		"object.spec.@containers[*]":         []any{},
		"object.spec.@containers[*].image":   []any{},
		"object.spec.@containers[0].image":   abitest.Missing{},
		"object.spec.containers":             abitest.Missing{},
		"object.spec.containers[*].ports[*]": []any{},
	} {
		record := recordOf(t, declared(t, path), requestFor(&v1.Pod{}))
		if diff := cmp.Diff(want, abitest.ParseRecord(t, record)[0]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// TestLayoutOfTheRecord pins the ABI's layout: a change of these bytes breaks every plugin.
func TestLayoutOfTheRecord(t *testing.T) {
	t.Parallel()
	p := declared(t, "object.spec.containers[*].image", "object.spec.hostNetwork", "object.metadata.labels", "object.spec.nodeName")
	got := recordOf(t, p, requestFor(abitest.Pod("ab", "")))
	want := "\x04\x00" +
		"\x00\x00" + "\x05\x10\x00\x00\x00" + "\x02\x00\x00\x00" + "\x01\x02\x00\x00\x00ab" + "\x00\x00\x00\x00\x00" +
		"\x01\x00" + "\x02\x01\x00\x00\x00\x00" +
		"\x02\x00" + "\x06\x12\x00\x00\x00" + "\x01\x00\x00\x00" + "\x03\x00\x00\x00app" + "\x03\x00\x00\x00web" +
		"\x03\x00" + "\x00\x00\x00\x00\x00"
	if string(got) != want {
		t.Errorf("record\n%q, want\n%q", got, want)
	}
}

func TestPathsThatNameNothingAreRefused(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"object":                                           "a field must follow the root",
		"object[0]":                                        "a field must follow the root",
		"pod.spec":                                         `unknown root "pod": it must be object, oldObject, request, node or candidates`,
		"object.Spec":                                      `Pod has no field "Spec"`,
		"object.spec.hostnetwork":                          `PodSpec has no field "hostnetwork"`,
		"object.spec.containers.image":                     `a list has no field "image"`,
		"object.spec.containers['a']":                      "a list has no keys: ['a'] needs a map",
		"object.spec.hostNetwork[*]":                       "a single value has no elements: [*] needs a list",
		"object.spec.hostNetwork.x":                        `a single value has no field "x"`,
		"object.spec[0]":                                   "PodSpec has no elements: [0] needs a list",
		"object.metadata.labels[*]":                        "a map has no elements: [*] needs a list",
		"object.metadata.labels.app":                       `a map has no field "app"`,
		"object.metadata.labels['a'].b":                    `a single value has no field "b"`,
		"object.metadata.creationTimestamp.Time":           `a single value has no field "Time"`,
		"object.spec.volumes[*].emptyDir.sizeLimit.Format": `a single value has no field "Format"`,
		"object.@containers[*].image":                      "@containers is a name of object.spec only",
		"object.spec.@containers.image":                    "@containers is a list: [*] or an index must follow",
		"object.spec.@containers[*].imagee":                `Container has no field "imagee"`,
		"object.spec.@pods":                                `PodSpec has no field "@pods"`,
		"object.status":                                    "the status of a pod is not judged",
		"oldObject.status.phase":                           "the status of a pod is not judged",
		"request.user":                                     `request has no field "user"`,
		"request.time.ms":                                  `a single value has no field "ms"`,
		"request":                                          "a field must follow the root",
		"object.spec..x":                                   "character 13 of the path: expected a name",
	} {
		var p Projection
		err := p.Declare(path, false, everything)
		if err == nil {
			t.Errorf("%s is accepted", path)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", path, err, want)
		}
		if len(p.fields) > 0 || p.recorded > 0 {
			t.Errorf("%s was refused, but declared", path)
		}
	}
}

// every calls visit with the path of each field below a type; [*] stands for elements.
func every(t reflect.Type, path string, visit func(path string)) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case hasOwnForm(t) || t.Kind() != reflect.Struct && t.Kind() != reflect.Slice:
		return
	case t.Kind() == reflect.Slice:
		visit(path + "[*]")
		every(t.Elem(), path+"[*]", visit)
		return
	}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch name {
		case "-":
		case "":
			every(f.Type, path, visit)
		default:
			visit(path + "." + name)
			every(f.Type, path+"."+name, visit)
		}
	}
}

func TestEveryFieldOfAPodCanBeDeclared(t *testing.T) {
	t.Parallel()
	count := 0
	every(reflect.TypeFor[v1.Pod](), "object", func(path string) {
		if strings.HasPrefix(path, "object.status") {
			return
		}
		count++
		abitest.ParseRecord(t, recordOf(t, declared(t, path), requestFor(abitest.FullPod())))
	})
	if count < 500 {
		t.Errorf("%d fields visited, a pod has more", count)
	}
}

func TestObjectsReadBackAsTheyWere(t *testing.T) {
	t.Parallel()
	record := recordOf(t, declared(t, "object.spec"), requestFor(abitest.FullPod()))
	var spec v1.PodSpec
	if err := json.Unmarshal([]byte(abitest.ParseRecord(t, record)[0].(abitest.Raw)), &spec); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(abitest.FullPod().Spec, spec); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPodsAreOnlyRead checks that two plugins can read a pod at the same time: pods are
// shared by all parts of the agent.
func TestPodsAreOnlyRead(t *testing.T) {
	t.Parallel()
	p := abitest.FullPod()
	all := declared(t, "object.spec", "object.spec.volumes[*].emptyDir.sizeLimit", "object.spec.containers[*].resources.limits['memory']")
	done := make(chan []byte)
	for range 2 {
		go func() { done <- recordOf(t, all, requestFor(p)) }()
	}
	if a, b := <-done, <-done; string(a) != string(b) {
		t.Error("one pod gave two records")
	}
}
