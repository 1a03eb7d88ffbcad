package wasm

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

// connecting returns a plugin that answers the hook connect. It also sets a patch and a retry
// time, which this hook ignores.
func connecting(answer int32) []byte {
	m := w.Plugin(w.Reason, w.Patch, w.RetryAfter)
	m.Data(w.Texts, "[]CodeWhy")
	m.Connect(
		w.I32Const(w.Texts), w.I32Const(2), w.Call(m.Imported("patch")),
		w.I64Const(5000), w.Call(m.Imported("retry_after_ms")),
		w.I32Const(w.Texts+2), w.I32Const(4), w.I32Const(w.Texts+6), w.I32Const(3), w.Call(m.Imported("reason")),
		w.I32Const(answer),
	)
	return m.Bytes()
}

func connectRequest() *Request {
	r := question(testPod())
	r.Question.Op = api.Connect
	r.Question.Connection = &api.Connection{
		Kind: api.ConnectExec, Source: api.FromNodeAPI, Container: "main", Command: []string{"sh", "-c", "ls"}, User: "alice", Groups: []string{"ops"},
	}
	return r
}

func TestConnect_answers(t *testing.T) {
	t.Parallel()
	for answer, want := range map[int32]api.Answer{0: api.Allow, 1: api.Deny, 3: api.Abstain} {
		p, _ := load(t, connecting(answer), func(o *Options) { o.Hooks = []string{"connect"} })
		for range 2 {
			got, err := p.Connect(t.Context(), connectRequest())
			if err != nil {
				t.Fatal(err)
			}
			if got.Fuel < 1 {
				t.Errorf("fuel %d", got.Fuel)
			}
			got.Fuel, got.Extra = 0, 0
			if diff := cmp.Diff(Result{Answer: want, Reason: "Code", Message: "Why"}, got); diff != "" {
				t.Errorf("%d (-want +got):\n%s", answer, diff)
			}
		}
	}
	for number, want := range map[int32]string{
		2:        "BadOutput: wardlet_connect gives 2: a connection cannot wait, answers are 0, 1 and 3",
		4:        "BadOutput: wardlet_connect gives 4: answers are 0 to 3",
		-1:       "PluginError: wardlet_connect reports an error: Code: Why",
		-1 << 31: "PluginError: wardlet_connect reports an error: Code: Why",
	} {
		p, _ := load(t, connecting(number), func(o *Options) { o.Hooks = []string{"connect"} })
		for range 2 { // the plugin still works after the failure
			_, err := p.Connect(t.Context(), connectRequest())
			if failure, ok := errors.AsType[*Failure](err); !ok || failure.Error() != want {
				t.Errorf("%d: %v\nwant %s", number, err, want)
			}
		}
	}
}

func TestConnect_fieldsOfTheConnection(t *testing.T) {
	t.Parallel()
	all := declared(t, "request.hook", "request.operation", "request.connection", "request.connection.kind", "request.connection.source",
		"request.connection.container", "request.connection.command", "request.connection.command[0]", "request.connection.command[*]",
		"request.connection.ports", "request.connection.user", "request.connection.groups", "oldObject.metadata.name")
	write := func(hook Hook, r *Request) []any {
		q := &query{}
		q.setPod(hook, r)
		var out record
		all.write(&out, q, maxRecord)
		return parseRecord(t, out.out)
	}
	got := write(HookConnect, connectRequest())
	command := []any{"sh", "-c", "ls"}
	got[2] = nil // this is JSON, whose text is checked below
	want := []any{"connect", "CONNECT", nil, "exec", "node-api", "main", command, "sh", command, missing{}, "alice", []any{"ops"}, missing{}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want = []any{"admit", "ADD", missing{}, missing{}, missing{}, missing{}, missing{}, missing{}, []any{}, missing{}, missing{}, missing{}, missing{}}
	if diff := cmp.Diff(want, write(HookAdmit, question(testPod()))); diff != "" {
		t.Errorf("another hook (-want +got):\n%s", diff)
	}
	q := &query{}
	q.setPod(HookConnect, connectRequest())
	_, text, err := q.document(documentRequest)
	if want := `"connection":{"kind":"exec","source":"node-api","container":"main","command":["sh","-c","ls"],"user":"alice","groups":["ops"]}`; err != nil || !strings.Contains(string(text), want) {
		t.Errorf("document %s, error %v, want %s in it", text, err, want)
	}
}
