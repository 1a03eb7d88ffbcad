package wasm

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

func TestPatchesThatAreNone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``:                 "want a JSON array of operations",
		`null`:             "want a JSON array of operations",
		`{}`:               "want a JSON array of operations",
		`"[]"`:             "want a JSON array of operations",
		`[`:                "want a JSON array of operations: unexpected end of JSON input",
		`[] []`:            "want a JSON array of operations: invalid character '[' after top-level value",
		`[1]`:              "operation 0: want an object",
		`[[]]`:             "operation 0: want an object",
		`[null]`:           `operation 0: want an object`,
		`[{}]`:             `operation 0: "op" must be add, replace, remove or test`,
		`[{"op":1}]`:       `operation 0: "op" must be add, replace, remove or test`,
		`[{"op":"mov"}]`:   `operation 0: "op" must be add, replace, remove or test`,
		`[{"OP":"add"}]`:   `operation 0: "op" must be add, replace, remove or test`,
		`[{"op":"add "}]`:  `operation 0: "op" must be add, replace, remove or test`,
		`[{"op":["add"]}]`: `operation 0: "op" must be add, replace, remove or test`,
		`[{"op":"move","from":"/a","path":"/b"}]`:   `operation 0: "op" must be add, replace, remove or test`,
		`[{"op":"copy","from":"/a","path":"/b"}]`:   `operation 0: "op" must be add, replace, remove or test`,
		`[{"op":"remove"}]`:                         `operation 0: "path" must be a string`,
		`[{"op":"remove","path":null}]`:             `operation 0: "path" must be a string`,
		`[{"op":"remove","path":1}]`:                `operation 0: "path" must be a string`,
		`[{"op":"remove","Path":"/a"}]`:             `operation 0: "path" must be a string`,
		`[{"op":"remove","path":"/a"},{"op":"x"}]`:  `operation 1: "op" must be add, replace, remove or test`,
		"[{\"op\":\"remove\",\"path\":\"/\xff\"}]":  "it is not valid UTF-8",
		"[{\"op\":\"remove\",\"path\":\"/a\x00\"}]": `want a JSON array of operations: invalid character '\x00' in string literal`,
		strings.Repeat("[", 200):                    "want a JSON array of operations: unexpected end of JSON input",
	} {
		n, err := checkPatch([]byte(text))
		if err == nil || err.Error() != want {
			t.Errorf("%s: %d operations, %v\nwant %s", text, n, err, want)
		}
		if len(text) > 400 {
			continue
		}
		p, _ := load(t, w.Patching(0, text))
		for _, hook := range []string{"admit", "merge", "filter"} {
			if err := answerTo(t, p, hook); err == nil || err.Error() != "BadOutput: the plugin's patch: "+want {
				t.Errorf("%s, %s: %v", hook, text, err)
			}
		}
	}
}

// answerTo calls a hook and returns its error.
func answerTo(t *testing.T, p *Plugin, hook string) (err error) {
	t.Helper()
	switch hook {
	case "admit":
		_, err = p.Admit(t.Context(), question(abitest.Pod()))
	case "merge":
		_, err = p.Merge(t.Context(), testMerge())
	default:
		_, err = p.Filter(t.Context(), question(abitest.Pod()))
	}
	return err
}

func TestPatchesCountWhereSomethingGoesOn(t *testing.T) {
	t.Parallel()
	const patch = ` [{"op":"test","path":"","value":1}, {"op":"add","path":"/metadata/labels/ü","value":"x"},{"op":"remove","path":"/a"},{"path":"/b","op":"replace","more":{}}] `
	for answer := range int32(4) {
		want := ""
		if answers[answer] == api.Allow {
			want = patch
		}
		p, _ := load(t, w.Patching(answer, patch))
		if got := admit(t, p); string(got.Patch) != want {
			t.Errorf("%s: patch %s", got.Answer, got.Patch)
		}
	}
	for answer := int32(-3); answer < 2; answer++ {
		want := ""
		if answer >= 0 {
			want = patch
		}
		p, _ := load(t, w.Patching(answer, patch))
		if got, err := p.Merge(t.Context(), testMerge()); err != nil || string(got.Patch) != want {
			t.Errorf("%s: patch %s, %v", got.Answer, got.Patch, err)
		}
	}
	p, _ := load(t, w.Patching(0, patch))
	if _, err := p.Filter(t.Context(), question(abitest.Pod())); err != nil { // this hook takes no patch
		t.Error(err)
	}
	p, _ = load(t, w.Patching(0, " []"))
	if got := admit(t, p); got.Patch != nil {
		t.Errorf("an empty patch: %s", got.Patch)
	}
}

func TestTheLastPatchCounts(t *testing.T) {
	t.Parallel()
	const first, second = `[{"op":"remove","path":"/a"}]`, `[{"op":"remove","path":"/b"}]`
	for last, want := range map[string]string{second: second, "[]": ""} {
		m := w.Plugin(w.Patch)
		m.Admit(text(m, 100, first), w.Call(0), text(m, 300, last), w.Call(0), w.I32Const(0))
		p, _ := load(t, m.Bytes())
		for range 2 {
			if got := admit(t, p); string(got.Patch) != want {
				t.Errorf("patch %s, want %s", got.Patch, want)
			}
		}
	}
}

func TestPatchesCountTowardsTheOutput(t *testing.T) {
	t.Parallel()
	const patch = `[{"op":"remove","path":"/a"}]`
	m := w.Plugin(w.Patch)
	m.Init(text(m, 100, patch), w.Call(0), w.I32Const(0)) // it has no effect, but uses output bytes
	m.Admit(text(m, 300, patch), w.Call(0), text(m, 500, patch), w.Call(0), w.I32Const(0))
	p, _ := load(t, m.Bytes(), func(o *Options) { o.OutputBytes = 2 * len(patch) })
	for range 2 {
		if got := admit(t, p); string(got.Patch) != patch {
			t.Errorf("patch %s", got.Patch)
		}
	}
	p, _ = load(t, m.Bytes(), func(o *Options) { o.OutputBytes = 2*len(patch) - 1 })
	if got := admitFailure(t, p); got.Code != abi.BadOutput {
		t.Error(got)
	}
	e, _ := testEngine(t)
	o := testOptions()
	o.OutputBytes = len(patch) - 1
	if _, err := e.Load(t.Context(), m.Bytes(), o); err == nil || !strings.HasPrefix(err.Error(), "BadOutput: wardlet_init: the plugin put out more") {
		t.Errorf("in wardlet_init: %v", err)
	}
}

// FuzzPatch compares the result of checkPatch with that of a JSON decoder.
func FuzzPatch(f *testing.F) {
	for _, text := range []string{
		`[]`, `[{"op":"add","path":"/a","value":[1,{}]}]`, `[{"op":"remove","path":"/a"}`, `[{"op":"move","path":"/a","from":"/b"}]`, "\xff", "[[[[",
		`[{"op":"\u0061dd","path":""}]`, `[{"op":"add","op":"move","path":""}]`, ` [ ] `, `[{"op":"\u0061dd","p\u0061th":"\ud800"}]`,
		` [ { "op" : "add" , "path" : "" , "value" : [ { "op" : "move" } , "]" , -1e9 , null ] , "op" : "remove" } , { } ] `, `[{"op":"add","path":""},[{"op":"add"}]]`,
		`[{"op":"add","path":"\"}],{\\"}]`, `[{"a":{"op":"add","path":""}}]`, `[{"op":"add","path":"","value":{"a":[[],{}],"b":{}}}]`, `[{"op":"add","path":null}]`,
		`[` + strings.Repeat(`{"op":"test","path":""},`, MaxPatchOperations) + `{"op":"test","path":""}]`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		operations, err := checkPatch([]byte(text))
		want, wrong := decodedPatch([]byte(text))
		if wrong != (err != nil) || err == nil && operations != want {
			t.Errorf("%q: %d operations, %v; a decoder finds %d, and says it is wrong: %t", text, operations, err, want, wrong)
		}
	})
}

// TestALongPatchIsReadUpToWhatIsWrongWithIt is not parallel: it counts the allocations of the
// process.
func TestALongPatchIsReadUpToWhatIsWrongWithIt(t *testing.T) {
	const remove = `{"op":"remove","path":"/a"},`
	for text, want := range map[string]string{
		"[" + strings.Repeat(`{"":0},`, 100_000) + "{}]":                 `operation 0: "op" must be add, replace, remove or test`,
		"[" + strings.Repeat(remove, MaxPatchOperations) + `{"op":"x"}]`: "it has more than 1024 operations",
	} {
		var err error
		if made := testing.AllocsPerRun(1, func() { _, err = checkPatch([]byte(text)) }); made > 40*MaxPatchOperations {
			t.Errorf("%.40s…: %.0f allocations", text, made)
		}
		if err == nil || err.Error() != want {
			t.Errorf("%.40s…: error %v, want %s", text, err, want)
		}
	}
	if n, err := checkPatch([]byte("[" + strings.Repeat(remove, MaxPatchOperations-1) + `{"op":"remove","path":"/b"}]`)); n != MaxPatchOperations || err != nil {
		t.Errorf("%d operations, %v", n, err)
	}
}

// decodedPatch returns how many operations a decoder finds, and whether the patch is invalid.
func decodedPatch(text []byte) (operations int, wrong bool) {
	var list []json.RawMessage
	if bytes.Equal(bytes.TrimSpace(text), []byte("null")) || json.Unmarshal(text, &list) != nil || len(list) > MaxPatchOperations {
		return 0, true
	}
	for _, one := range list {
		var keys map[string]any
		if json.Unmarshal(one, &keys) != nil || keys == nil {
			return 0, true
		}
		op, isOp := keys["op"].(string)
		if _, isPath := keys["path"].(string); !isOp || !isPath || !patchOperations[op] {
			return 0, true
		}
	}
	return len(list), !utf8.Valid(text)
}
