package wasm

import (
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/api"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

// validating returns a plugin whose wardlet_validate_settings requires a setting "name":
// without it, the result is result, with the message.
func validating(result int32, message string) []byte {
	m := w.Plugin(w.Reason, w.Setting)
	m.ValidateSettings(
		m.Says("", message),
		text(m, 600, "name"), w.I32Const(700), w.I32Const(100), w.Call(m.Imported("setting")), w.I32Const(noSuchThing), w.I32Eq,
		w.If(w.I32Const(result), w.Return), w.I32Const(0),
	)
	m.Init(w.I32Const(0))
	m.Admit(w.I32Const(1))
	return m.Bytes()
}

func TestSettingsAreValidated(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		result        int32
		message, want string
	}{
		{1, "name is missing", "PluginError: wardlet_validate_settings refuses the settings: name is missing"},
		{-9, "", "PluginError: wardlet_validate_settings refuses the settings with -9 and gives no reason"},
	} {
		e, _ := testEngine(t)
		if _, err := e.Load(t.Context(), validating(test.result, test.message), testOptions()); err == nil || err.Error() != test.want {
			t.Errorf("%v\nwant %s", err, test.want)
		}
		p, _ := load(t, validating(test.result, test.message), func(o *Options) { o.Settings = map[string]any{"name": "x"} })
		if got := admit(t, p); got.Answer != api.Deny || got.Message != "" {
			t.Errorf("with the setting: %+v", got)
		}
	}
}

func TestSettingsAreValidatedBeforeInit(t *testing.T) {
	t.Parallel()
	m := w.Plugin()
	m.Export("_initialize", m.Func(nil, nil, nil, w.I32Const(3000), w.I32Const(1), w.I32Store(0)))
	step := func(want int32) w.Code {
		return w.Join(
			w.I32Const(3000), w.I32Load(0), w.I32Const(want), w.I32Ne, w.If(w.Unreachable), w.I32Const(3000), w.I32Const(want+1), w.I32Store(0),
		)
	}
	m.ValidateSettings(step(1), w.I32Const(0))
	m.Init(step(2), w.I32Const(0))
	m.Admit(w.I32Const(3000), w.I32Load(0), w.I32Const(3), w.I32Sub)
	p, _ := load(t, m.Bytes())
	if got := admit(t, p); got.Answer != api.Allow {
		t.Errorf("%+v", got)
	}
}

func TestValidationThatFails(t *testing.T) {
	t.Parallel()
	trapping, wrong := w.Plugin(), w.Plugin()
	trapping.ValidateSettings(w.Unreachable)
	trapping.Admit(w.I32Const(0))
	wrong.Export("wardlet_validate_settings", wrong.Func(nil, nil, nil))
	wrong.Admit(w.I32Const(0))
	for want, module := range map[string][]byte{
		"Trap: wardlet_validate_settings: unreachable":                            trapping.Bytes(),
		"exports wardlet_validate_settings as () -> (): its type must be () -> (": wrong.Bytes(),
	} {
		e, _ := testEngine(t)
		if _, err := e.Load(t.Context(), module, testOptions()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}
