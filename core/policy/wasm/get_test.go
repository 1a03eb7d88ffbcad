package wasm

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

// gotAt is the address where these guests store what they read: first the length, then the
// bytes.
const gotAt = 4096

// lazy is the prefix of a path that wardlet_init declares with field.
const lazy = "lazy "

// fetching returns a plugin that imports path, field and the given functions, and that
// declares paths with handles from 0 on.
func fetching(t *testing.T, paths []string, imports ...w.Import) *w.Module {
	t.Helper()
	m := w.Plugin(append([]w.Import{w.Path, w.Field}, imports...)...)
	var body []w.Code
	for i, path := range paths {
		path, isLazy := strings.CutPrefix(path, lazy)
		with := m.Imported("path")
		if isLazy {
			with = m.Imported("field")
		}
		body = append(body, text(m, int32(512+128*i), path), w.Call(with), w.I32Const(int32(i)), w.I32Ne, w.If(w.Unreachable))
	}
	m.Init(append(body, w.I32Const(0))...)
	m.Data(w.Input, "\x00\x10\x00\x00")
	m.Export("wardlet_input", m.Func(nil, []w.Type{w.I32}, nil, w.I32Const(w.Input)))
	return m
}

// fetch returns code that calls get or json, and stores the result at gotAt.
func fetch(m *w.Module, function string, number, capacity int32) w.Code {
	return w.Join(
		w.I32Const(gotAt), w.I32Const(number), w.I32Const(gotAt+4), w.I32Const(capacity),
		w.Call(m.Imported(function)), w.I32Store(0),
	)
}

// got returns what a plugin whose hook uses fetch has read; data is nil if nothing was
// written.
func got(t *testing.T, p *Plugin, hook abi.Hook, r *abi.Request, m *abi.MergeRequest) (length int32, data []byte) {
	t.Helper()
	memory := memoryAfter(t, p, hook, r, m, gotAt, 8192)
	length, data = int32(binary.LittleEndian.Uint32(memory)), memory[4:]
	if strings.Trim(string(data), "\x00") == "" {
		return length, nil
	}
	return length, data[:length]
}

func TestFieldsAreFetched(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]any{
		"object.spec.@containers[*].image":   []any{"busybox", "nginx:1", abitest.Missing{}, "alpine"},
		"object.metadata.labels['empty']":    "",
		"object.spec.hostNetwork":            true,
		"object.spec.containers[9].image":    abitest.Missing{},
		"object.spec.volumes[0].hostPath":    abitest.Raw(`{"path":"/data"}`),
		"oldObject.spec.containers[*].image": abitest.Missing{},
		"request.hook":                       "admit",
		"request.time":                       abitest.Time.UnixMilli(),
		"candidates[*].source":               []any{},
		"candidates[0].source":               abitest.Missing{},
	} {
		for _, prefix := range []string{"", lazy} { // get reads both kinds
			m := fetching(t, []string{lazy + "request.node", prefix + path}, w.Get)
			m.Admit(fetch(m, "get", 1, 4000), w.I32Const(0))
			p, _ := load(t, m.Bytes())
			length, data := got(t, p, abi.HookAdmit, question(abitest.FullPod()), nil)
			if length < headerBytes || data == nil && want != (abitest.Missing{}) {
				t.Errorf("%s%s: length %d, %q", prefix, path, length, data)
				continue
			}
			if data == nil {
				data = make([]byte, length) // the header of a missing value is all zeros
			}
			if diff := cmp.Diff(want, abitest.ParseValue(t, data)); diff != "" {
				t.Errorf("%s%s (-want +got):\n%s", prefix, path, diff)
			}
		}
	}
}

func TestRoomForFetchedFields(t *testing.T) {
	t.Parallel()
	for capacity, written := range map[int32]bool{0: false, 7: false, 8: true, 9: true, 1<<31 - 1: true, -1: true} {
		m := fetching(t, []string{lazy + "object.metadata.name"}, w.Get)
		m.Admit(fetch(m, "get", 0, capacity), w.I32Const(0))
		p, _ := load(t, m.Bytes())
		length, data := got(t, p, abi.HookAdmit, question(abitest.FullPod()), nil)
		if length != 8 || (data != nil) != written {
			t.Errorf("room for %d: length %d, %q", uint32(capacity), length, data)
		}
	}
}

func TestHandlesThatThereAreNot(t *testing.T) {
	t.Parallel()
	for _, handle := range []int32{2, 63, 64, 1<<31 - 1, -1, -1 << 31} {
		m := fetching(t, []string{lazy + "object.metadata.name", "object.metadata.namespace"}, w.Get)
		m.Admit(fetch(m, "get", handle, 4000), w.I32Const(0))
		p, _ := load(t, m.Bytes())
		if length, data := got(t, p, abi.HookAdmit, question(abitest.FullPod()), nil); length != noSuchThing || data != nil {
			t.Errorf("handle %d: length %d, %q", handle, length, data)
		}
	}
}

// TestFieldsStandInNoRecord checks that the record contains only the fields declared with
// path, under their handles.
func TestFieldsStandInNoRecord(t *testing.T) {
	t.Parallel()
	paths := []string{lazy + "object.metadata.name", "object.metadata.namespace", lazy + "object.spec", "request.node"}
	m := fetching(t, paths)
	m.Admit(w.I32Const(0))
	p, _ := load(t, m.Bytes())
	area := memoryAfterAdmit(t, p, w.Input, 100)
	want := "\x02\x00" + "\x01\x00" + "\x01\x07\x00\x00\x00default" + "\x03\x00" + "\x01\x06\x00\x00\x00node-1"
	if n := binary.LittleEndian.Uint32(area[4:]); string(area[8:8+n]) != want {
		t.Errorf("record\n%q, want\n%q", area[8:8+n], want)
	}
}

func TestOnlyFieldsNeedNoInputArea(t *testing.T) {
	t.Parallel()
	m := w.Plugin(w.Field, w.Get)
	m.Init(text(m, 512, "object.metadata.name"), w.Call(0))
	m.Admit(fetch(m, "get", 0, 4000), w.I32Const(0))
	p, _ := load(t, m.Bytes())
	if _, data := got(t, p, abi.HookAdmit, question(abitest.FullPod()), nil); abitest.ParseValue(t, data) != "web" {
		t.Errorf("%q", data)
	}
}

// TestFunctionsAtTheWrongTime checks that path, field, get and json return -2 and have no
// effect when they are called at a wrong time.
func TestFunctionsAtTheWrongTime(t *testing.T) {
	t.Parallel()
	path := func(m *w.Module, name string) w.Code {
		return w.Join(w.I32Const(600), w.I32Const(23), w.Call(m.Imported(name)))
	}
	ask := func(m *w.Module, name string) w.Code {
		return w.Join(w.I32Const(0), w.I32Const(4096), w.I32Const(4000), w.Call(m.Imported(name)))
	}
	expect := func(code w.Code) w.Code { return w.Join(code, w.I32Const(notNow), w.I32Ne, w.If(w.Unreachable)) }
	m := w.Plugin(w.Path, w.Field, w.Get, w.JSON)
	m.Data(600, "object.spec.hostNetwork")
	m.Data(w.Input, "\x00\x10\x00\x00")
	outside := w.Join(expect(path(m, "path")), expect(path(m, "field")), expect(ask(m, "get")), expect(ask(m, "json")))
	m.Export("_initialize", m.Func(nil, nil, nil, outside))
	m.ValidateSettings(outside, w.I32Const(0))
	m.Init(expect(ask(m, "get")), path(m, "path"), w.Drop, expect(ask(m, "get")), expect(ask(m, "json")), w.I32Const(0))
	m.Export("wardlet_input", m.Func(nil, []w.Type{w.I32}, nil, outside, w.I32Const(w.Input)))
	inHook := w.Join(
		expect(path(m, "path")), expect(path(m, "field")),
		ask(m, "get"), w.I32Const(6), w.I32Ne, w.If(w.Unreachable), // a bool is 6 bytes long
		w.I32Const(0),
	)
	m.Admit(inHook)
	m.Merge(inHook)
	m.Filter(inHook)
	p, _ := load(t, m.Bytes())
	for range 2 {
		if got := admit(t, p); got.Answer != api.Allow {
			t.Errorf("%+v", got)
		}
		if _, err := p.Filter(t.Context(), question(abitest.Pod())); err != nil {
			t.Error(err)
		}
		// Without an object, the field is missing and 5 bytes long.
		if _, err := p.Merge(t.Context(), testMerge()); err == nil || err.Error() != "Trap: unreachable" {
			t.Errorf("error %v", err)
		}
	}
}

// TestNoQuestionIsLeftForTheNext checks that a call cannot read the pod of an earlier call.
func TestNoQuestionIsLeftForTheNext(t *testing.T) {
	t.Parallel()
	m := fetching(t, []string{"object.metadata.labels"}, w.JSON)
	m.Admit(fetch(m, "json", 1, 4000), w.I32Const(0))
	p, _ := load(t, m.Bytes())
	for range 2 {
		if _, data := got(t, p, abi.HookAdmit, question(abitest.FullPod()), nil); !strings.Contains(string(data), `"web"`) {
			t.Errorf("%q", data)
		}
		i, err := p.take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if c := &i.call; c.ctx != nil || c.wants != nil || len(c.record.Out) > 0 {
			t.Errorf("%+v is kept", c)
		}
		p.give(i, true)
	}
	if _, data := got(t, p, abi.HookAdmit, question(&v1.Pod{}), nil); strings.Contains(string(data), "web") {
		t.Errorf("a pod of before: %q", data)
	}
}
