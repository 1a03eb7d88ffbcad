package host

import (
	"strings"
	"testing"
)

func TestWithoutAnAgentTheSDKSaysWhatToDo(t *testing.T) {
	defer func() {
		if message, _ := recover().(string); !strings.Contains(message, "sdktest") {
			t.Errorf("panic %q, want one that names sdktest", message)
		}
	}()
	Warn("x")
}

// agent counts the calls that reach it.
type agent struct {
	Host
	text string
}

func (a *agent) Explain(text string)         { a.text = text }
func (a *agent) LogEnabled(level int32) bool { return level == 2 }

func TestCallsReachTheHostInPlace(t *testing.T) {
	a := &agent{}
	Use(a)
	defer Use(nil)
	Explain("why")
	if a.text != "why" || !LogEnabled(2) || LogEnabled(1) {
		t.Errorf("got %+v", a)
	}
}
