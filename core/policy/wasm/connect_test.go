package wasm

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
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

func connectRequest() *abi.Request {
	r := question(abitest.Pod())
	r.Question.Op, r.Question.Connection = api.Connect, &api.Connection{Kind: api.ConnectExec, Source: api.FromNodeAPI}
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
			if failure, ok := errors.AsType[*abi.Failure](err); !ok || failure.Error() != want {
				t.Errorf("%d: %v\nwant %s", number, err, want)
			}
		}
	}
}
