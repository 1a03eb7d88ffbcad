package wasm

import (
	"encoding/binary"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

// text puts a text into a module and returns code that pushes its address and length.
func text(m *w.Module, address int32, s string) w.Code {
	m.Data(address, s)
	return w.Join(w.I32Const(address), w.I32Const(int32(len(s))))
}

func TestWhatAPluginHandsOver(t *testing.T) {
	t.Parallel()
	m := w.Plugin(w.Reason, w.Warn, w.Annotate, w.Explain, w.RetryAfter)
	call := func(name string, args ...w.Code) w.Code { return w.Join(append(args, w.Call(m.Imported(name)))...) }
	first, second := text(m, 100, "First"), text(m, 110, "second\x1b\n\xff")
	m.Admit(
		call("reason", second, second), call("reason", first, second), // the last call takes effect
		call("warn", first), call("warn", second),
		call("annotate", first, first), call("annotate", second, second), call("annotate", first, second),
		call("explain", first), call("explain", second),
		call("retry_after_ms", w.I64Const(1)), call("retry_after_ms", w.I64Const(2500)),
		w.I32Const(2),
	)
	p, _ := load(t, m.Bytes())
	want := Result{
		Answer: api.Hold, Reason: "First", Message: `second\u001b\n` + "\uFFFD",
		Warnings:    []string{"First", `second\u001b\n` + "\uFFFD"},
		Annotations: map[string]string{"First": `second\u001b` + "\n\uFFFD", `second\u001b\n` + "\uFFFD": `second\u001b` + "\n\uFFFD"},
		Explanation: `second\u001b` + "\n\uFFFD",
		RetryAfter:  2500 * time.Millisecond,
	}
	for range 2 { // no call may see the texts of an earlier one
		if diff := cmp.Diff(want, admit(t, p)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestLongTextsAreCut(t *testing.T) {
	t.Parallel()
	m := w.Plugin(w.Reason, w.Warn, w.Explain)
	long := text(m, 1024, strings.Repeat("x", 10_000))
	m.Admit(long, long, w.Call(0), long, w.Call(1), long, w.Call(2), w.I32Const(1))
	p, _ := load(t, m.Bytes())
	got := admit(t, p)
	if len(got.Reason) != 64 || len(got.Message) != 4096 || len(got.Warnings[0]) != 4096 || len(got.Explanation) != 10_000 {
		t.Errorf("lengths %d, %d, %d, %d", len(got.Reason), len(got.Message), len(got.Warnings[0]), len(got.Explanation))
	}
}

func TestRetryTimes(t *testing.T) {
	t.Parallel()
	for ms, want := range map[int64]time.Duration{0: 0, 1: time.Millisecond, 1<<63 - 1: 24 * time.Hour} {
		p, _ := load(t, w.HoldingFor(ms))
		if got := admit(t, p); got.RetryAfter != want {
			t.Errorf("%d ms: %v, want %v", ms, got.RetryAfter, want)
		}
	}
	m := w.Plugin(w.RetryAfter)
	m.Admit(w.I64Const(5), w.Call(0), w.I32Const(0))
	p, _ := load(t, m.Bytes())
	if got := admit(t, p); got.RetryAfter != 0 {
		t.Errorf("an allow that wants to be asked again after %v", got.RetryAfter)
	}
}

func TestMisuseOfHostFunctions(t *testing.T) {
	t.Parallel()
	outside := w.Join(w.I32Const(1<<16-4), w.I32Const(5))
	const outsideText = "BadOutput: the plugin names 5 bytes at 0xfffc, its memory has 65536"
	nothing := w.Join(w.I32Const(0), w.I32Const(0))
	page := w.Join(w.I32Const(0), w.I32Const(1<<16))
	repeat := func(n int, code ...w.Code) w.Code {
		return w.Join(w.I32Const(int32(n)), w.LocalSet(0), w.Loop(
			w.Join(code...), w.LocalGet(0), w.I32Const(1), w.I32Sub, w.LocalSet(0), w.LocalGet(0), w.BrIf(0),
		))
	}
	const tooMuch = "BadOutput: the plugin put out more than its policy allows in one call: raise output_bytes of its [limits]"
	for name, test := range map[string]struct {
		of   w.Import
		code w.Code // runs before the call
		want string
	}{
		"a code outside of the memory":         {w.Reason, w.Join(outside, nothing), outsideText},
		"a message outside of the memory":      {w.Reason, w.Join(nothing, outside), outsideText},
		"a warning outside of the memory":      {w.Warn, outside, outsideText},
		"a warning at the highest address":     {w.Warn, w.Join(w.I32Const(-1), w.I32Const(2)), "BadOutput: the plugin names 2 bytes at 0xffffffff, its memory has 65536"},
		"a warning of 4 GiB":                   {w.Warn, w.Join(w.I32Const(0), w.I32Const(-1)), tooMuch},
		"a key outside of the memory":          {w.Annotate, w.Join(outside, nothing), outsideText},
		"a value outside of the memory":        {w.Annotate, w.Join(nothing, outside), outsideText},
		"an explanation outside of the memory": {w.Explain, outside, outsideText},
		"a log line outside of the memory":     {w.Log, w.Join(w.I32Const(1), outside), outsideText},
		"a log line of an unknown level":       {w.Log, w.Join(w.I32Const(4), nothing), "BadOutput: a log line of level 4: levels are 0 to 3"},
		"a log line of a negative level":       {w.Log, w.Join(w.I32Const(-1), nothing), "BadOutput: a log line of level 4294967295: levels are 0 to 3"},
		"a setting's name outside of memory":   {w.Setting, w.Join(outside, nothing), outsideText},
		"a setting's buffer outside of memory": {w.Setting, w.Join(w.I32Const(w.Texts), w.I32Const(4), w.I32Const(1<<16-4), w.I32Const(100)), "BadOutput: the plugin names 6 bytes at 0xfffc, its memory has 65536"},
		"a path outside of the memory":         {w.Path, outside, outsideText}, // checked even when path may not be called
		"a field outside of the memory":        {w.Field, outside, outsideText},
		"a patch outside of the memory":        {w.Patch, outside, outsideText},
		"a patch at the highest address":       {w.Patch, w.Join(w.I32Const(-1), w.I32Const(2)), "BadOutput: the plugin names 2 bytes at 0xffffffff, its memory has 65536"},
		"a patch of 4 GiB":                     {w.Patch, w.Join(w.I32Const(0), w.I32Const(-1)), tooMuch},
		"a patch beyond output_bytes":          {w.Patch, w.Join(w.I32Const(0), w.I32Const(1<<16+1)), tooMuch},
		"a patch that is none":                 {w.Patch, nothing, "BadOutput: the plugin's patch: want a JSON array of operations"},
		"a document's buffer outside":          {w.JSON, w.Join(w.I32Const(1), w.I32Const(1<<16-4), w.I32Const(1000)), "BadOutput: the plugin names 130 bytes at 0xfffc, its memory has 65536"},
		"a document at the highest address":    {w.JSON, w.Join(w.I32Const(0), w.I32Const(-1), w.I32Const(-1)), "BadOutput: the plugin names 145 bytes at 0xffffffff, its memory has 65536"},
		"an annotation without a key":          {w.Annotate, w.Join(nothing, nothing), "BadOutput: an annotation's key of 0 bytes: it must have 1 to 253"},
		"a key that is too long":               {w.Annotate, w.Join(w.I32Const(0), w.I32Const(254), nothing), "BadOutput: an annotation's key of 254 bytes: it must have 1 to 253"},
		"a negative retry time":                {w.RetryAfter, w.I64Const(-1), "BadOutput: a retry after -1 ms: it must not be negative"},
		"a warning beyond output_bytes":        {w.Warn, w.Join(page, w.Call(0), w.I32Const(0), w.I32Const(1)), tooMuch},
		"an explanation beyond output_bytes":   {w.Explain, w.Join(page, w.Call(0), w.I32Const(0), w.I32Const(1)), tooMuch},
		"a message beyond output_bytes":        {w.Reason, w.Join(w.I32Const(0), w.I32Const(1), page), tooMuch},
		"an annotation beyond output_bytes":    {w.Annotate, w.Join(w.I32Const(0), w.I32Const(1), page), tooMuch},
		"65 warnings":                          {w.Warn, w.Join(repeat(64, nothing, w.Call(0)), nothing), "BadOutput: more than 64 warnings in one call"},
		"65 annotations": {w.Annotate, w.Join(
			repeat(64, w.I32Const(0), w.LocalGet(0), w.I32Store(200), w.I32Const(200), w.I32Const(1), nothing, w.Call(0)),
			w.I32Const(0), w.I32Const(99), w.I32Store(200), w.I32Const(200), w.I32Const(1), nothing,
		), "BadOutput: more than 64 annotations in one call"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := w.Plugin(test.of)
			m.Data(w.Texts, "name")
			after := w.Join()
			if len(test.of.Results) > 0 {
				after = w.Drop
			}
			m.Admit(test.code, w.Call(0), after, w.I32Const(0))
			p, _ := load(t, m.Bytes(), func(o *Options) { o.Settings = map[string]any{"name": "v"} })
			for range 2 {
				if got := admitFailure(t, p); got.Error() != test.want {
					t.Errorf("%v\nwant %s", got, test.want)
				}
			}
		})
	}
}

func TestPathsOutsideOfTheMemory(t *testing.T) {
	t.Parallel()
	for _, of := range []w.Import{w.Path, w.Field} {
		m := w.Plugin(of)
		m.Init(w.I32Const(1<<16-4), w.I32Const(5), w.Call(0))
		m.Admit(w.I32Const(0))
		e, _ := testEngine(t)
		want := "BadOutput: wardlet_init: the plugin names 5 bytes at 0xfffc, its memory has 65536"
		if _, err := e.Load(t.Context(), m.Bytes(), testOptions()); err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", of.Name, err, want)
		}
	}
}

func TestBuffersOutsideOfTheMemory(t *testing.T) {
	t.Parallel()
	for buffer, want := range map[int32]string{
		1<<16 - 7: "BadOutput: the plugin names 8 bytes at 0xfff9, its memory has 65536",
		1 << 16:   "BadOutput: the plugin names 8 bytes at 0x10000, its memory has 65536",
		-1:        "BadOutput: the plugin names 8 bytes at 0xffffffff, its memory has 65536",
		1<<16 - 8: "", // these 8 bytes end where the memory ends
	} {
		m := fetching(t, []string{lazy + "object.metadata.name"}, w.Get)
		m.Admit(w.I32Const(0), w.I32Const(buffer), w.I32Const(100), w.Call(m.Imported("get")), w.I32Const(8), w.I32Sub)
		p, _ := load(t, m.Bytes())
		for range 2 {
			result, err := p.Admit(t.Context(), question(abitest.Pod()))
			if want == "" && (err != nil || result.Answer != api.Allow) {
				t.Errorf("%d: %+v, %v", buffer, result, err)
			}
			if want != "" && (err == nil || err.Error() != want) {
				t.Errorf("%d: %v\nwant %s", buffer, err, want)
			}
		}
	}
}

// TestDecisionsMakeNoGarbage checks that reading fields and looking up settings allocates no
// memory. It is not parallel: it counts allocations.
func TestDecisionsMakeNoGarbage(t *testing.T) {
	m := fetching(t, []string{"object.metadata.labels", "object.spec.@containers[*].image", lazy + "object.spec.containers[*].ports[*].hostPort"},
		w.Get, w.Setting, w.LogEnabled, w.Log, w.RetryAfter, w.WASI("clock_time_get", w.I32, w.I64, w.I32))
	name := text(m, 2048, "patterns['a/b']")
	body := w.Join(
		fetch(m, "get", 0, 4000), fetch(m, "get", 2, 4000),
		name, w.I32Const(gotAt), w.I32Const(4000), w.Call(m.Imported("setting")), w.Drop,
		w.I32Const(0), w.Call(m.Imported("log_enabled")), w.Drop,
		w.I32Const(0), name, w.Call(m.Imported("log")), // at a level that is not logged
		w.I64Const(1000), w.Call(m.Imported("retry_after_ms")),
		w.I32Const(0), w.I64Const(1), w.I32Const(gotAt), w.Call(m.Imported("clock_time_get")), w.Drop,
	)
	m.Admit(body, w.I32Const(0))
	m.Merge(body, w.I32Const(0))
	m.Filter(body, w.I32Const(0))
	log := &testLog{}
	e, err := NewEngine(t.TempDir()+"/cache", log.logger(slog.LevelInfo))
	if err != nil {
		t.Fatal(err)
	}
	o := testOptions()
	o.Settings = map[string]any{"patterns": map[string]any{"a/b": "x"}}
	p, err := e.Load(t.Context(), m.Bytes(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	q, merge := question(abitest.FullPod()), testMerge()
	for name, ask := range map[string]func() error{
		"admit":  func() error { _, err := p.Admit(t.Context(), q); return err },
		"merge":  func() error { _, err := p.Merge(t.Context(), merge); return err },
		"filter": func() error { _, err := p.Filter(t.Context(), q); return err },
	} {
		if n := testing.AllocsPerRun(50, func() {
			if err := ask(); err != nil {
				t.Error(err)
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestOutputBytesCountAllTexts(t *testing.T) {
	t.Parallel()
	m := w.Plugin(w.Reason, w.Warn, w.Annotate, w.Explain)
	s := text(m, 1024, "0123456789") // 10 bytes, 60 in all
	m.Admit(s, s, w.Call(0), s, w.Call(1), s, s, w.Call(2), s, w.Call(3), w.I32Const(0))
	p, _ := load(t, m.Bytes(), func(o *Options) { o.OutputBytes = 60 })
	for range 2 { // the budget is per call
		if got := admit(t, p); got.Answer != api.Allow {
			t.Errorf("%+v", got)
		}
	}
	p, _ = load(t, m.Bytes(), func(o *Options) { o.OutputBytes = 59 })
	if got := admitFailure(t, p); got.Code != abi.BadOutput {
		t.Error(got)
	}
}

// declaring returns a plugin whose wardlet_init declares paths, with path or field, and
// returns the last result.
func declaring(with w.Import, paths ...string) []byte {
	m := w.Plugin(with, w.Reason)
	var body []w.Code
	for i, path := range paths {
		body = append(body, text(m, int32(1024*(i+1)), path), w.Call(0))
		if i < len(paths)-1 {
			body = append(body, w.Drop)
		}
	}
	m.Init(body...)
	m.Data(w.Input, "\x00\x10\x00\x00")
	m.Export("wardlet_input", m.Func(nil, []w.Type{w.I32}, nil, w.I32Const(w.Input)))
	m.Admit(w.I32Const(0))
	return m.Bytes()
}

func TestRefusedPathsAreNamedWhenInitFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		paths []string
		want  string
	}{
		"a field that does not exist": {
			[]string{"object.spec.hostnetwork"},
			`PluginError: wardlet_init refuses with -1 and gives no reason; the last path it was refused: path object.spec.hostnetwork: PodSpec has no field "hostnetwork"`,
		},
		"the last of several": {
			[]string{"object.spec.hostNetwork", "request.user", "object.[", "object.metadata.name"},
			`PluginError: wardlet_init refuses with 1 and gives no reason; the last path it was refused: path object.[: character 8 of the path: expected a name`,
		},
		"a path longer than a path may be": {
			[]string{"object." + strings.Repeat("x", 1020)},
			`PluginError: wardlet_init refuses with -1 and gives no reason; the last path it was refused: path object.` + strings.Repeat("x", 493) + `: the path is longer than 1024 bytes`,
		},
	} {
		e, _ := testEngine(t)
		for _, of := range []w.Import{w.Path, w.Field} {
			if _, err := e.Load(t.Context(), declaring(of, test.paths...), testOptions()); err == nil || err.Error() != test.want {
				t.Errorf("%s, %s: %v\nwant %s", name, of.Name, err, test.want)
			}
		}
	}
}

func TestPathsAreTakenInInitOnly(t *testing.T) {
	t.Parallel()
	m := w.Plugin(w.Path, w.RetryAfter)
	m.Reads("object.spec.hostNetwork")
	m.Admit(w.I32Const(512), w.I32Const(23), w.Call(0), w.I32Const(100), w.I32Add, extend, w.Call(1), w.I32Const(2))
	p, _ := load(t, m.Bytes())
	if got := admit(t, p).RetryAfter.Milliseconds() - 100; got != notNow {
		t.Errorf("path gives %d in a hook, want %d", got, notNow)
	}
}

func TestPathsAreNotTakenAfterInit(t *testing.T) {
	t.Parallel()
	m := w.Plugin(w.Path)
	m.Data(512, "object.spec.hostNetwork")
	m.Data(w.Input, "\x00\x10\x00\x00")
	m.Export("wardlet_input", m.Func(nil, []w.Type{w.I32}, nil,
		w.I32Const(512), w.I32Const(23), w.Call(0), w.I32Const(notNow), w.I32Ne, w.If(w.Unreachable), w.I32Const(w.Input),
	))
	m.Admit(w.I32Const(w.Input), w.I32Load16(8)) // the record's count, 0, which means allow
	p, _ := load(t, m.Bytes())
	if got := admit(t, p); got.Answer != api.Allow {
		t.Errorf("%+v", got)
	}
}

func TestTheSixtyFifthPathIsOneTooMany(t *testing.T) {
	t.Parallel()
	for n, want := range map[int32]string{64: "", 65: "wardlet_init refuses with -3 and gives no reason; the last path it was refused: more than 64 paths"} {
		m := w.Plugin(w.Path, w.Field)
		m.Data(w.Texts, "request.node")
		m.Export("wardlet_init", m.Func(nil, []w.Type{w.I32}, []w.Type{w.I32, w.I32},
			w.Loop(
				w.I32Const(w.Texts), w.I32Const(12), w.Call(1), w.LocalSet(1), // field
				w.LocalGet(0), w.I32Const(1), w.I32Add, w.LocalSet(0),
				w.LocalGet(0), w.I32Const(n-1), w.I32LtU, w.BrIf(0),
			),
			w.I32Const(w.Texts), w.I32Const(12), w.Call(0), w.LocalSet(1), // and the last with path: one sequence
			w.LocalGet(1), w.I32Const(63), w.I32Eq, w.If(w.I32Const(0), w.Return), w.LocalGet(1),
		))
		m.Data(w.Input, "\x00\x10\x00\x00")
		m.Export("wardlet_input", m.Func(nil, []w.Type{w.I32}, nil, w.I32Const(w.Input)))
		m.Admit(w.I32Const(0))
		e, _ := testEngine(t)
		p, err := e.Load(t.Context(), m.Bytes(), testOptions())
		if want == "" {
			if err != nil {
				t.Errorf("%d paths: %v", n, err)
			} else if err := p.Close(); err != nil {
				t.Error(err)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d paths: %v\nwant %s", n, err, want)
		}
	}
}

func TestSettingsReachThePlugin(t *testing.T) {
	t.Parallel()
	const buffer = 2056 // the result is stored at 2048
	for name, test := range map[string]struct {
		path     string
		capacity int32
		length   int32
		want     any // nil if nothing is written
	}{
		"a string":                        {"name", 100, 6, "v"},
		"with exactly enough room":        {"name", 6, 6, "v"},
		"with too little room":            {"name", 5, 6, nil},
		"without room":                    {"name", 0, 6, nil},
		"a nested one":                    {"table.deep", 100, 13, int64(5)},
		"that is not there":               {"nam", 100, -1, nil},
		"that cannot be parsed":           {"name.", 100, -1, nil},
		"with all the room in the memory": {"name", 1<<31 - 1, 6, "v"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := w.Plugin(w.Setting)
			m.Admit(
				w.I32Const(2048), text(m, 100, test.path), w.I32Const(buffer), w.I32Const(test.capacity), w.Call(0), w.I32Store(0),
				w.I32Const(0),
			)
			p, _ := load(t, m.Bytes(), func(o *Options) {
				o.Settings = map[string]any{"name": "v", "table": map[string]any{"deep": int64(5)}}
			})
			got := memoryAfterAdmit(t, p, 2048, 60)
			if length := int32(binary.LittleEndian.Uint32(got)); length != test.length {
				t.Errorf("length %d, want %d", length, test.length)
			}
			written := got[buffer-2048:]
			if test.want == nil {
				if strings.Trim(string(written), "\x00") != "" {
					t.Errorf("%q was written", written)
				}
			} else if diff := cmp.Diff(test.want, abitest.ParseValue(t, written[:test.length])); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
