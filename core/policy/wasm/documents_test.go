package wasm

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

// documentOf returns a document as a plugin receives it, empty if there is none.
func documentOf(t *testing.T, hook abi.Hook, number int32, r *abi.Request, merge *abi.MergeRequest, capabilities ...string) string {
	t.Helper()
	m := w.Plugin(w.JSON)
	ask := fetch(m, "json", number, 4000)
	m.Admit(ask, w.I32Const(0))
	m.Merge(ask, w.I32Const(0))
	m.Filter(ask, w.I32Const(0))
	p, _ := load(t, m.Bytes(), func(o *Options) { o.Capabilities = capabilities })
	length, data := got(t, p, hook, r, merge)
	if length == noSuchThing && data == nil {
		return ""
	}
	if !json.Valid(data) {
		t.Errorf("document %d is no JSON: %q", number, data)
	}
	return string(data)
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	small := func(name string) *v1.Pod { return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}} }
	const object = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"NAME"},"spec":{"containers":null}}`
	named := func(name string) string { return strings.Replace(object, "NAME", name, 1) }
	r := &abi.Request{
		Question: &api.Question{
			Op: api.UpdateOp, Pod: small("new"), Old: small("old"), Replaces: "uid-0", Origin: api.Origin{Source: "manifests", Document: "/m/web.yaml#0"},
		},
		Kind: "file", Tenant: "shop", Changed: []string{"labels", "spec"}, Time: abitest.Time, ClockSynchronized: true, Node: testFacts(),
	}
	add := question(small("new"))
	merge := testMerge()
	const facts = `{"name":"node-1","labels":{"arch":"amd64","zone":"a"},"allocatable":{"cpu":"4","memory":"8Gi"},"pods":[` +
		`{"namespace":"shop","name":"web","uid":"uid-1","source":"manifests","labels":{"app":"web"},"priority":7,"requests":{"cpu":"500m"},"hostPorts":[80,443]},` +
		`{"namespace":"shop","name":"db","uid":"uid-2","source":"api","priority":0}]}`
	for name, test := range map[string]struct {
		hook         abi.Hook
		number       int32
		capabilities []string
		without      bool // without an old version, facts and candidates
		want         string
	}{
		"the request of an update": {hook: abi.HookAdmit, number: 0, want: `{"hook":"admit","operation":"UPDATE","source":"manifests","kind":"file","document":"/m/web.yaml#0",` +
			`"replaces":"uid-0","tenant":"shop","changed":["labels","spec"],"node":"node-1","time":1795262400000,"clockSynchronized":true}`},
		"the request of a new pod": {hook: abi.HookFilter, number: 0, without: true, want: `{"hook":"filter","operation":"ADD","source":"manifests","document":"/m/web.yaml#0",` +
			`"node":"node-1","time":1795262400000,"clockSynchronized":false}`},
		"the request of a merge":       {hook: abi.HookMerge, number: 0, want: `{"hook":"merge","tenant":"shop","node":"node-1","time":1795262400000,"clockSynchronized":true}`},
		"the object":                   {hook: abi.HookAdmit, number: 1, want: named("new")},
		"the object of a filter":       {hook: abi.HookFilter, number: 1, want: named("new")},
		"the object of a merge":        {hook: abi.HookMerge, number: 1},
		"the old object":               {hook: abi.HookAdmit, number: 2, want: named("old")},
		"the old object of a new pod":  {hook: abi.HookAdmit, number: 2, without: true},
		"the old object of a merge":    {hook: abi.HookMerge, number: 2, want: named("runs")},
		"the node":                     {hook: abi.HookAdmit, number: 3, capabilities: []string{"node.read"}, want: facts},
		"the node without leave":       {hook: abi.HookAdmit, number: 3},
		"a node without facts":         {hook: abi.HookAdmit, number: 3, capabilities: []string{"node.read"}, without: true},
		"the node in a merge":          {hook: abi.HookMerge, number: 3, capabilities: []string{"node.read"}, want: facts},
		"the first candidate":          {hook: abi.HookMerge, number: 16, want: named("first")},
		"the last candidate":           {hook: abi.HookMerge, number: 17, want: named("runs")},
		"one candidate too many":       {hook: abi.HookMerge, number: 18},
		"a candidate in another hook":  {hook: abi.HookAdmit, number: 16},
		"what is of the seed only":     {hook: abi.HookMerge, number: 4},
		"a number nobody knows":        {hook: abi.HookMerge, number: 15},
		"a negative number":            {hook: abi.HookMerge, number: -1},
		"the largest negative number":  {hook: abi.HookMerge, number: -1 << 31},
		"the largest number":           {hook: abi.HookMerge, number: 1<<31 - 1},
		"a candidate below the others": {hook: abi.HookMerge, number: -16},
	} {
		asks := r
		if test.without {
			asks = add
		}
		if got := documentOf(t, test.hook, test.number, asks, mergeOf(test.hook, merge), test.capabilities...); got != test.want {
			t.Errorf("%s:\n%s, want\n%s", name, got, test.want)
		}
	}
}

func mergeOf(hook abi.Hook, m *abi.MergeRequest) *abi.MergeRequest {
	if hook == abi.HookMerge {
		return m
	}
	return nil
}

func TestDocumentsOfPods(t *testing.T) {
	t.Parallel()
	full := abitest.FullPod()
	full.Status.Phase = v1.PodRunning
	full.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "someone"}}
	full.Annotations = map[string]string{"a": "<&>\u2028"}
	text := documentOf(t, abi.HookAdmit, 1, question(full), nil)
	for _, part := range []string{"status", "managedFields"} {
		if strings.Contains(text, part) {
			t.Errorf("the document has %s: %s", part, text)
		}
	}
	if !strings.HasPrefix(text, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web",`) || !strings.Contains(text, `"\u003c\u0026\u003e\u2028"`) {
		t.Errorf("document %s", text)
	}
	var back v1.Pod
	if err := json.Unmarshal([]byte(text), &back); err != nil {
		t.Fatal(err)
	}
	want := full.DeepCopy()
	want.Status, want.ManagedFields, want.TypeMeta = v1.PodStatus{}, nil, metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}
	want.CreationTimestamp.Time = want.CreationTimestamp.Truncate(1e9)
	if diff := cmp.Diff(want, &back); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if full.Status.Phase != v1.PodRunning || len(full.ManagedFields) != 1 || full.Kind != "" {
		t.Error("the pod itself was changed")
	}
	if again := documentOf(t, abi.HookAdmit, 1, question(full.DeepCopy()), nil); again != text {
		t.Errorf("the same pod, another document:\n%s\n%s", text, again)
	}
}

func TestRoomForDocuments(t *testing.T) {
	t.Parallel()
	const length = 85
	for capacity, written := range map[int32]bool{0: false, length - 1: false, length: true, -1: true} {
		m := w.Plugin(w.JSON)
		m.Admit(fetch(m, "json", 1, capacity), w.I32Const(0))
		p, _ := load(t, m.Bytes())
		n, data := got(t, p, abi.HookAdmit, question(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "new"}}), nil)
		if n != length || (data != nil) != written {
			t.Errorf("room for %d: length %d, %q", uint32(capacity), n, data)
		}
	}
}
