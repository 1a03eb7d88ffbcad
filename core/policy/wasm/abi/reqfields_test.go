package abi

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
)

func connection() *Request {
	r := requestFor(abitest.Pod())
	r.Question.Op = api.Connect
	r.Question.Connection = &api.Connection{
		Kind: api.ConnectExec, Source: api.FromNodeAPI, Container: "main", Command: []string{"sh", "-c", "ls"}, User: "alice", Groups: []string{"ops"},
	}
	return r
}

func TestWhatAnUpdateChanged(t *testing.T) {
	t.Parallel()
	r := requestFor(abitest.Pod("new"))
	r.Question.Op, r.Question.Old = api.UpdateOp, abitest.Pod("old")
	r.Changed, r.Kind, r.Tenant, r.ClockSynchronized = []string{"images", "labels"}, "api", "shop", true
	all := declared(t, "request.hook", "request.operation", "request.changed", "request.changed[*]", "request.changed[0]", "request.changed[2]",
		"request.kind", "request.tenant", "request.clockSynchronized", "object.spec.containers[0].image", "oldObject.spec.containers[0].image")
	write := func() []any {
		q := &Query{}
		q.SetPod(HookFilter, r, everything)
		var out Record
		all.Write(&out, q, MaxRecord)
		return abitest.ParseRecord(t, out.Out)
	}
	changed := []any{"images", "labels"}
	want := []any{"filter", "UPDATE", changed, changed, "images", abitest.Missing{}, "api", "shop", true, "new", "old"}
	if diff := cmp.Diff(want, write()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r.Question.Op, r.Question.Old, r.Kind, r.Tenant = api.Add, nil, "", "" // the hook filter does not read these
	want = []any{"filter", "ADD", abitest.Missing{}, []any{}, abitest.Missing{}, abitest.Missing{}, abitest.Missing{}, abitest.Missing{}, true, "new", abitest.Missing{}}
	if diff := cmp.Diff(want, write()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReferences_fields(t *testing.T) {
	t.Parallel()
	type list = []any
	r := requestFor(&v1.Pod{})
	r.References = []api.Reference{
		{Kind: "ConfigMap", Name: "app", Keys: []string{"a", "b"}, Digest: "sha256:1"},
		{Kind: "Secret", Name: "tls", Optional: true},
	}
	for path, want := range map[string]any{
		"request.references[*].kind":     list{"ConfigMap", "Secret"},
		"request.references[1].name":     "tls",
		"request.references[2].name":     abitest.Missing{},
		"request.references[*].optional": list{false, true},
		"request.references[*].keys":     list{list{"a", "b"}, abitest.Missing{}},
		"request.references[*].digest":   list{"sha256:1", abitest.Missing{}},
		"request.references[1]":          abitest.Raw(`{"kind":"Secret","name":"tls","optional":true}`),
	} {
		if diff := cmp.Diff(want, abitest.ParseRecord(t, recordOf(t, declared(t, path), r))[0]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	if got := abitest.ParseRecord(t, recordOf(t, declared(t, "request.references[*].name"), requestFor(&v1.Pod{})))[0]; !cmp.Equal(got, any(list{})) {
		t.Errorf("of a pod that names none: %v", got)
	}
}

func TestConnect_fieldsOfTheConnection(t *testing.T) {
	t.Parallel()
	all := declared(t, "request.hook", "request.operation", "request.connection", "request.connection.kind", "request.connection.source",
		"request.connection.container", "request.connection.command", "request.connection.command[0]", "request.connection.command[*]",
		"request.connection.ports", "request.connection.user", "request.connection.groups", "oldObject.metadata.name")
	write := func(hook Hook, r *Request) []any {
		q := &Query{}
		q.SetPod(hook, r, everything)
		var out Record
		all.Write(&out, q, MaxRecord)
		return abitest.ParseRecord(t, out.Out)
	}
	got := write(HookConnect, connection())
	command := []any{"sh", "-c", "ls"}
	got[2] = nil // this is JSON, whose text is checked below
	want := []any{"connect", "CONNECT", nil, "exec", "node-api", "main", command, "sh", command, abitest.Missing{}, "alice", []any{"ops"}, abitest.Missing{}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want = []any{"admit", "ADD", abitest.Missing{}, abitest.Missing{}, abitest.Missing{}, abitest.Missing{}, abitest.Missing{}, abitest.Missing{}, []any{}, abitest.Missing{}, abitest.Missing{}, abitest.Missing{}, abitest.Missing{}}
	if diff := cmp.Diff(want, write(HookAdmit, requestFor(abitest.Pod()))); diff != "" {
		t.Errorf("another hook (-want +got):\n%s", diff)
	}
	q := &Query{}
	q.SetPod(HookConnect, connection(), everything)
	_, text, err := q.document(documentRequest)
	if want := `"connection":{"kind":"exec","source":"node-api","container":"main","command":["sh","-c","ls"],"user":"alice","groups":["ops"]}`; err != nil || !strings.Contains(string(text), want) {
		t.Errorf("document %s, error %v, want %s in it", text, err, want)
	}
}
