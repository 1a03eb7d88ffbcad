package wasm

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

func TestFilterAnswers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer       int32
		milliseconds int64
		want         FilterResult
	}{
		"pass":                       {0, -1, FilterResult{Answer: FilterPass}},
		"pass, with a time":          {0, 5000, FilterResult{Answer: FilterPass}},
		"drop":                       {1, 5000, FilterResult{Answer: FilterDrop}},
		"defer":                      {2, 5000, FilterResult{Answer: FilterDefer, DeferFor: 5 * time.Second}},
		"defer without a time":       {2, -1, FilterResult{Answer: FilterDefer, DeferFor: time.Minute}},
		"defer for no time":          {2, 0, FilterResult{Answer: FilterDefer, DeferFor: time.Minute}},
		"defer for as long as it is": {2, 1<<63 - 1, FilterResult{Answer: FilterDefer, DeferFor: 24 * time.Hour}},
		"abstain":                    {3, -1, FilterResult{Answer: FilterAbstain}},
	} {
		p, _ := load(t, w.Filtering(test.answer, test.milliseconds, "Code", "message"), func(o *Options) { o.Hooks = []string{"filter"} })
		test.want.Reason, test.want.Message = "Code", "message"
		for range 2 {
			got, err := p.Filter(t.Context(), question(abitest.Pod()))
			if err != nil {
				t.Fatal(err)
			}
			if got.Fuel < 1 {
				t.Errorf("fuel %d", got.Fuel)
			}
			if test.want.Fuel == 0 {
				test.want.Fuel = got.Fuel // the second call must use as much
			}
			got.Extra = 0 // it differs from call to call
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	}
}

func TestNumbersThatAreNoFilter(t *testing.T) {
	t.Parallel()
	for number, want := range map[int32]string{
		4:         "BadOutput: wardlet_filter gives 4: answers are 0 to 3",
		1<<31 - 1: "BadOutput: wardlet_filter gives 2147483647: answers are 0 to 3",
		-1:        "PluginError: wardlet_filter reports an error: Code: message",
		-1 << 31:  "PluginError: wardlet_filter reports an error: Code: message",
	} {
		p, _ := load(t, w.Filtering(number, -1, "Code", "message"), func(o *Options) { o.Hooks = []string{"filter"} })
		for range 2 { // the plugin still works after the failure
			_, err := p.Filter(t.Context(), question(abitest.Pod()))
			if failure, ok := errors.AsType[*abi.Failure](err); !ok || failure.Error() != want {
				t.Errorf("%d: %v\nwant %s", number, err, want)
			}
		}
	}
}

func TestAHookThatIsMissingIsNotAsked(t *testing.T) {
	t.Parallel()
	for hook, module := range map[string][]byte{"admit": w.Answering(0, "", ""), "merge": w.Merging(0, "", ""), "filter": w.Filtering(0, -1, "", "")} {
		p, _ := load(t, module, func(o *Options) { o.Hooks = []string{hook} })
		for other, ask := range map[string]func() error{
			"admit":  func() error { _, err := p.Admit(t.Context(), question(abitest.Pod())); return err },
			"merge":  func() error { _, err := p.Merge(t.Context(), testMerge()); return err },
			"filter": func() error { _, err := p.Filter(t.Context(), question(abitest.Pod())); return err },
		} {
			want := "AbiMismatch: the module exports no function wardlet_" + other
			if err := ask(); hook == other && err != nil || hook != other && (err == nil || err.Error() != want) {
				t.Errorf("%s of a plugin with %s: %v", other, hook, err)
			}
		}
		e, _ := testEngine(t)
		for _, other := range []string{"admit", "merge", "filter"} {
			o := testOptions()
			o.Hooks = []string{other}
			loaded, err := e.Load(t.Context(), module, o)
			if err == nil {
				if err := loaded.Close(); err != nil {
					t.Error(err)
				}
			}
			if (err == nil) != (hook == other) {
				t.Errorf("a module with %s for a policy of %s: %v", hook, other, err)
			}
		}
	}
}

func TestAPluginWithSeveralHooksKnowsWhichIsAsked(t *testing.T) {
	t.Parallel()
	m := fetching(t, []string{"request.hook"}, w.Reason)
	says := w.Join(w.I32Const(0), w.I32Const(0),
		w.I32Const(w.Input+8+4+headerBytes), w.I32Const(w.Input+8+4), w.I32Load(1), w.Call(m.Imported("reason")))
	m.Admit(says, w.I32Const(0))
	m.Merge(says, w.I32Const(0))
	m.Filter(says, w.I32Const(0))
	p, _ := load(t, m.Bytes(), func(o *Options) { o.Hooks = []string{"admit", "merge", "filter"} })
	for range 2 {
		admitted, err := p.Admit(t.Context(), question(abitest.Pod()))
		merged, err2 := p.Merge(t.Context(), testMerge())
		filtered, err3 := p.Filter(t.Context(), question(abitest.Pod()))
		if err := errors.Join(err, err2, err3); err != nil {
			t.Fatal(err)
		}
		if admitted.Message != "admit" || merged.Message != "merge" || filtered.Message != "filter" {
			t.Errorf("%q, %q, %q", admitted.Message, merged.Message, filtered.Message)
		}
	}
}
