package validate

import (
	"errors"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/admit"
	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

var (
	setups int
	name   = sdk.Object("metadata.name")
)

func init() {
	Settings(func() error {
		if _, ok := sdk.StringSetting("name"); !ok {
			return errors.New("settings.name is missing")
		}
		return nil
	})
	admit.Register(func() (admit.Policy, error) {
		setups++
		return admit.Allow, nil
	})
}

func TestSettingsAreCheckedBeforeSetup(t *testing.T) {
	before := setups
	if got := sdktest.LoadError(t, nil); got != "settings.name is missing" || setups != before {
		t.Errorf("got %q, setup ran %d times", got, setups-before)
	}
	sdktest.Load(t, map[string]any{"name": "x"})
	if setups == before {
		t.Error("setup did not run")
	}
}

func TestMisuseInACheckRefusesTheSettings(t *testing.T) {
	if got := sdktest.LoadError(t, map[string]any{"name": 1}); got != "setting name must be a string, but it is an integer" {
		t.Errorf("got %q", got)
	}
	before := checks
	defer func() { checks = before }()
	checks = []func() error{func() error { _ = name.String(); return nil }}
	if got := sdktest.LoadError(t, nil); !strings.Contains(got, "read where no pod is judged") {
		t.Errorf("got %q", got)
	}
	for _, checks = range [][]func() error{nil, {nil}, {before[0], before[0]}} {
		if got := sdktest.LoadError(t, map[string]any{"name": "x"}); !strings.Contains(got, "call validate.Settings once") {
			t.Errorf("got %q", got)
		}
	}
}
