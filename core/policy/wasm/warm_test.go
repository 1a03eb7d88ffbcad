package wasm

import (
	"errors"
	"testing"
	"time"

	w "github.com/wardlet/wardlet/core/policy/wasm/wasmtest"
)

var everyHook = []string{string(HookAdmit), string(HookMerge), string(HookFilter)}

func TestAPluginThatWasWarmedIsTrustedInItsFirstCall(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		module []byte
		hooks  []string
	}{
		"by admit":  {w.Answering(1, "No", "no"), everyHook[:1]},
		"by merge":  {w.Merging(0, "", ""), everyHook[1:2]},
		"by filter": {w.Filtering(0, 0, "", ""), everyHook[2:]},
	} {
		p, _ := load(t, tc.module, func(o *Options) { o.Hooks = tc.hooks })
		assertTrusted(t, p, false, name+", before")
		p.Warm(t.Context(), tc.hooks)
		assertTrusted(t, p, true, name)
		if p.pool.made != 1 {
			t.Errorf("%s: %d instances", name, p.pool.made)
		}
	}
}

func TestWarmingIsOverSoonAndCostsNothingWhateverThePluginDoes(t *testing.T) {
	t.Parallel()
	for name, module := range map[string][]byte{
		"it loops": w.Looping(), "it traps": w.Trapping(), "it grows": growingByOne(), "it answers nonsense": w.Answering(99, "", ""),
	} {
		p, _ := load(t, module)
		p.pool.now = func() time.Time { return testTime }
		p.Warm(t.Context(), everyHook)
		if len(p.pool.losses) != 0 || p.pool.made != 1 || len(p.pool.clean) != 1 {
			t.Errorf("%s: losses %v, %d instances, of which %d are ready", name, p.pool.losses, p.pool.made, len(p.pool.clean))
		}
		for range rebuildsPerSecond {
			if _, err := p.Admit(t.Context(), question(testPod())); errors.Is(err, ErrNotReady) {
				t.Errorf("%s: it is not ready for its first %d calls", name, rebuildsPerSecond)
				break
			}
		}
	}
}

func TestNothingIsLoggedOfPodsThatThereAreNot(t *testing.T) {
	t.Parallel()
	m := w.Plugin(w.Log)
	m.Data(w.Texts, "I was asked")
	m.Admit(w.Join(w.I32Const(2), w.I32Const(w.Texts), w.I32Const(11), w.Call(m.Imported("log"))), w.I32Const(0))
	p, log := load(t, m.Bytes())
	p.Warm(t.Context(), everyHook)
	if text := log.String(); text != "" {
		t.Errorf("logged: %s", text)
	}
	admit(t, p)
	if log.String() == "" {
		t.Error("the plugin logs nothing, so this shows nothing")
	}
}
