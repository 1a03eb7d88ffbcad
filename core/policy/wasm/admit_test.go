package wasm

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	for number, want := range []api.Answer{api.Allow, api.Deny, api.Hold, api.Abstain} {
		p, _ := load(t, w.Answering(int32(number), "Code", "message"))
		got := admit(t, p)
		if diff := cmp.Diff(Result{Answer: want, Reason: "Code", Message: "message"}, got); diff != "" {
			t.Errorf("%d (-want +got):\n%s", number, diff)
		}
	}
}

func TestNumbersThatAreNoAnswers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		number        int32
		code, message string
		want          string
	}{
		{4, "", "", "BadOutput: wardlet_admit gives 4: answers are 0 to 3"},
		{1 << 30, "", "", "BadOutput: wardlet_admit gives 1073741824: answers are 0 to 3"},
		{-1, "", "", "PluginError: wardlet_admit reports an error with -1 and gives no reason"},
		{-7, "Lost", "no table", "PluginError: wardlet_admit reports an error: Lost: no table"},
	} {
		p, _ := load(t, w.Answering(test.number, test.code, test.message))
		for range 2 { // the plugin still works after the failure
			if got := admitFailure(t, p); got.Error() != test.want {
				t.Errorf("%v\nwant %s", got, test.want)
			}
		}
	}
}

func TestAPluginJudgesByTheFieldsItDeclared(t *testing.T) {
	t.Parallel()
	p, _ := load(t, w.Denying("object.spec.@containers[*].image", "evil"))
	for _, test := range []struct {
		images []string
		want   Result
	}{
		{[]string{"good"}, Result{Answer: api.Allow}},
		{[]string{"good", "evil"}, Result{Answer: api.Deny, Reason: "Listed", Message: "evil"}},
		{[]string{"evi", "evils", "live"}, Result{Answer: api.Allow}},
		{nil, Result{Answer: api.Allow}},
	} {
		test.want.Reads = []string{"object.spec.@containers[*].image"}
		if diff := cmp.Diff(test.want, admit(t, p, test.images...)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", test.images, diff)
		}
	}
	p, _ = load(t, w.Denying("object.metadata.annotations", "evil"))
	if got := admit(t, p, "evil"); got.Answer != api.Abstain {
		t.Errorf("without a list: %+v", got)
	}
}

// counting returns a plugin that counts its calls and returns the count as the retry time of
// its answer, in milliseconds.
func counting(count func(m *w.Module) w.Code, more ...w.Code) []byte {
	m := w.Plugin(w.RetryAfter)
	body := []w.Code{count(m), w.Call(m.Imported("retry_after_ms"))}
	m.Admit(append(append(body, more...), w.I32Const(2))...)
	return m.Bytes()
}

var extend = w.Code{0xad} // i64.extend_i32_u

func countInMemory(*w.Module) w.Code {
	return w.Join(
		w.I32Const(4000), w.I32Const(4000), w.I32Load(0), w.I32Const(1), w.I32Add, w.I32Store(0),
		w.I32Const(4000), w.I32Load(0), extend,
	)
}

func countInGlobal(m *w.Module) w.Code {
	m.Global(w.I64, false, w.I64Const(77))
	g := m.Global(w.I32, true, w.I32Const(0))
	return w.Join(w.GlobalGet(g), w.I32Const(1), w.I32Add, w.GlobalSet(g), w.GlobalGet(g), extend)
}

func TestNoCallSeesWhatAnotherLeft(t *testing.T) {
	t.Parallel()
	for name, module := range map[string][]byte{
		"in memory":                          counting(countInMemory),
		"in a global":                        counting(countInGlobal),
		"in memory, when the memory grows":   counting(countInMemory, w.I32Const(1), w.MemoryGrow, w.Drop),
		"in a global, when the memory grows": counting(countInGlobal, w.I32Const(1), w.MemoryGrow, w.Drop),
	} {
		p, _ := load(t, module)
		for range 3 {
			if got := admit(t, p); got.RetryAfter != time.Millisecond {
				t.Errorf("%s: call number %d", name, got.RetryAfter.Milliseconds())
			}
		}
	}
}

func TestAfterATrapAllIsAsItWas(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]w.Code{
		"a trap":     w.Unreachable,
		"bad output": w.Join(w.I64Const(-1), w.Call(0)),
		"an error":   w.Join(w.I32Const(-1), w.Return),
	} {
		m := w.Plugin(w.RetryAfter, w.Path)
		m.Reads("object.spec.containers[0].image")
		g := m.Global(w.I32, true, w.I32Const(0))
		m.Admit(
			w.GlobalGet(g), w.I32Const(1), w.I32Add, w.GlobalSet(g), countInMemory(m), w.Drop,
			w.I32Const(w.Input+4), w.I32Load(0), w.I32Const(20), w.I32LtU, w.If(fail), // fails if an image is short
			w.GlobalGet(g), w.I32Const(4000), w.I32Load(0), w.I32Add, extend, w.Call(0),
			w.I32Const(2),
		)
		p, _ := load(t, m.Bytes())
		for range 2 {
			_ = admitFailure(t, p, "x")
			if got := admit(t, p, "a-long-image-name"); got.RetryAfter != 2*time.Millisecond {
				t.Errorf("after %s: %d, want 2", name, got.RetryAfter.Milliseconds())
			}
		}
	}
}

func TestTrapsHaveTheirCodes(t *testing.T) {
	t.Parallel()
	recursive := w.Plugin()
	self := w.Func(1) // the marker is 0
	recursive.Func(nil, nil, nil, w.Call(self))
	recursive.Admit(w.Call(self), w.I32Const(0))
	plain := func(body ...w.Code) []byte {
		m := w.Plugin()
		m.Admit(append(body, w.I32Const(0))...)
		return m.Bytes()
	}
	for name, test := range map[string]struct {
		module []byte
		want   string
	}{
		"unreachable":             {w.Trapping(), "Trap: unreachable"},
		"a division by zero":      {plain(w.I32Const(1), w.I32Const(0), w.I32DivU, w.Drop), "Trap: integer divide by zero"},
		"a load outside memory":   {plain(w.I32Const(-8), w.I64Load(0), w.Drop), "Trap: out of bounds memory access"},
		"a store outside memory":  {plain(w.I32Const(1<<16-2), w.I32Const(1), w.I32Store(0)), "Trap: out of bounds memory access"},
		"a recursion without end": {recursive.Bytes(), "StackLimit: calls are nested too deeply, or their frames are too large: together they may take 1024 KiB, and each takes at least 1"},
		"a trap with all memory in use": {
			plain(w.I32Const(3), w.MemoryGrow, w.Drop, w.Unreachable),
			"MemoryLimit: unreachable, with all the memory it may have in use",
		},
		"a trap after more memory was refused": {
			plain(w.I32Const(4), w.MemoryGrow, w.I32Const(-1), w.I32Eq, w.If(w.Unreachable)),
			"Trap: unreachable",
		},
	} {
		p, _ := load(t, test.module)
		for range 2 {
			if got := admitFailure(t, p).Error(); got != test.want {
				t.Errorf("%s: %s\nwant %s", name, got, test.want)
			}
		}
	}
}

func TestMemoryGrowsToTheLimitOnly(t *testing.T) {
	t.Parallel()
	m := w.Plugin(w.RetryAfter)
	m.Admit( // answers with the size, after growing page by page until it fails
		w.Loop(w.I32Const(1), w.MemoryGrow, w.I32Const(-1), w.I32Ne, w.BrIf(0)),
		w.MemorySize, extend, w.Call(0), w.I32Const(2),
	)
	for _, limit := range []uint32{1, 2, 4, 100} {
		p, _ := load(t, m.Bytes(), func(o *Options) { o.MemoryPages, o.Fuel = limit, 1<<30 })
		for range 2 {
			if got := admit(t, p).RetryAfter.Milliseconds(); got != int64(limit) {
				t.Errorf("%d pages, want %d", got, limit)
			}
		}
	}
}

func TestInputThatDoesNotFit(t *testing.T) {
	t.Parallel()
	p, _ := load(t, w.Denying("object.spec.@containers[*].image", "evil"))
	got := admitFailure(t, p, strings.Repeat("x", w.InputCapacity))
	want := "InputTooLarge: the declared fields take 16402 bytes, the plugin's input area has 16384"
	if got.Error() != want {
		t.Errorf("%v\nwant %s", got, want)
	}
	if got := admit(t, p, "evil"); got.Answer != api.Deny {
		t.Errorf("after that: %+v", got)
	}
}

func TestInputAreasThatDoNotExistAreRefused(t *testing.T) {
	t.Parallel()
	area := func(address int32, header string) []byte {
		m := w.Plugin()
		m.Data(1024, header)
		m.Export("wardlet_input", m.Func(nil, []w.Type{w.I32}, nil, w.I32Const(address)))
		m.Admit(w.I32Const(0))
		return m.Bytes()
	}
	declaring := w.Plugin(w.Path)
	declaring.Data(w.Texts, "object.spec")
	declaring.Init(w.I32Const(w.Texts), w.I32Const(11), w.Call(0))
	declaring.Admit(w.I32Const(0))
	for name, test := range map[string]struct {
		module []byte
		want   string
	}{
		"outside of the memory":  {area(-1, ""), "BadOutput: wardlet_input names an area of 0 bytes at 0xffffffff, the memory has 65536"},
		"longer than the memory": {area(1024, "\x00\x00\x01\x00"), "BadOutput: wardlet_input names an area of 65536 bytes at 0x400, the memory has 65536"},
		"none for its paths":     {declaring.Bytes(), "AbiMismatch: the plugin declares paths, but exports no function wardlet_input"},
	} {
		e, _ := testEngine(t)
		if _, err := e.Load(t.Context(), test.module, testOptions()); err == nil || err.Error() != test.want {
			t.Errorf("%s: %v\nwant %s", name, err, test.want)
		}
	}
	p, _ := load(t, area(1024, "\x00\xfb\x00\x00")) // ends at the end of the memory
	if got := admit(t, p); got.Answer != api.Allow {
		t.Errorf("%+v", got)
	}
}

func TestCallsOfOnePluginRunAtTheSameTime(t *testing.T) {
	t.Parallel()
	p, _ := load(t, w.Denying("object.spec.@containers[*].image", "evil"))
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			images, want := []string{"good"}, api.Allow
			if i%2 == 0 {
				images, want = []string{"evil"}, api.Deny
			}
			for range 50 {
				result, err := p.Admit(t.Context(), question(abitest.Pod(images...)))
				if err != nil || result.Answer != want {
					t.Errorf("%v: %+v, %v", images, result, err)
				}
			}
		})
	}
	all.Wait()
}

func TestAClosedPluginAnswersNothing(t *testing.T) {
	t.Parallel()
	e, _ := testEngine(t)
	p, err := e.Load(t.Context(), w.Answering(0, "", ""), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := admitFailure(t, p); got.Error() != "HostError: the plugin is closed" {
		t.Error(got)
	}
}

func TestFaultsOfTheHostAreFailures(t *testing.T) {
	t.Parallel()
	p, _ := load(t, w.Denying("object.spec.@containers[*].image", "evil"))
	_, err := p.Admit(t.Context(), &abi.Request{}) // fails with a nil pointer, because there is no question
	failure, ok := errors.AsType[*abi.Failure](err)
	if !ok || failure.Code != abi.HostError || !strings.Contains(err.Error(), "nil pointer") {
		t.Errorf("error %v", err)
	}
	if got := admit(t, p, "evil"); got.Answer != api.Deny {
		t.Errorf("after that: %+v", got)
	}
}

func TestAPluginWithoutTheHookIsNotAsked(t *testing.T) {
	t.Parallel()
	p, _ := load(t, w.NoHooks(), func(o *Options) { o.Hooks = nil })
	if got := admitFailure(t, p); got.Code != abi.AbiMismatch {
		t.Error(got)
	}
}

// mapped returns the size of this process's address space, in bytes.
func mapped(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// ticking returns a clock that advances by a second with each call.
func ticking() func() time.Time {
	now := abitest.Time
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}

// TestNoMemoryIsLeftMapped is not parallel: it measures the whole process. Each memory that it
// makes would be 64 MiB if it were left.
func TestNoMemoryIsLeftMapped(t *testing.T) {
	growing := w.Plugin()
	growing.Admit(w.I32Const(1), w.MemoryGrow)
	failing := complete(func(m *w.Module) { m.Data(1<<16-1, "xy") })
	for name, once := range map[string]func(e *Engine, o Options, p *Plugin){
		"a refused module": func(e *Engine, o Options, _ *Plugin) {
			if _, err := e.Load(t.Context(), failing, o); err == nil {
				t.Error("the module was loaded")
			}
		},
		"a plugin that is closed": func(e *Engine, o Options, _ *Plugin) {
			other, err := e.Load(t.Context(), w.Trapping(), o)
			if err != nil {
				t.Fatal(err)
			}
			if err := other.Close(); err != nil {
				t.Error(err)
			}
		},
		"an instance that grew": func(_ *Engine, _ Options, p *Plugin) { _ = admit(t, p) },
	} {
		e, _ := testEngine(t)
		o := testOptions()
		o.MemoryPages = maxMemoryPages
		p, err := e.Load(t.Context(), growing.Bytes(), o)
		if err != nil {
			t.Fatal(err)
		}
		p.pool.now = ticking()
		before := mapped(t)
		for range 32 {
			once(e, o, p)
		}
		if grown := mapped(t) - before; grown > 1<<30 {
			t.Errorf("%s: %d MiB are left mapped", name, grown>>20)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// FuzzAdmit passes arbitrary images to a plugin that parses the record itself.
func FuzzAdmit(f *testing.F) {
	f.Add("evil", "good")
	f.Add("", "\xff\x00")
	p, _ := load(f, w.Denying("object.spec.@containers[*].image", "evil"))
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a)+len(b) > w.InputCapacity-100 {
			return
		}
		spec := abitest.Pod(a, b)
		spec.Spec.InitContainers = []v1.Container{{Image: b}}
		got, err := p.Admit(t.Context(), question(spec))
		if err != nil {
			t.Fatal(err)
		}
		if denied := a == "evil" || b == "evil"; denied != (got.Answer == api.Deny) {
			t.Fatalf("images %q and %q: %+v", a, b, got)
		}
	})
}
