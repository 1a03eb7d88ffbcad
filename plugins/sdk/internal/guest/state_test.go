package guest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk/internal/host"
	"github.com/wardlet/wardlet/plugins/sdk/internal/record"
)

// agent is a host that accepts some paths and records the reason.
type agent struct {
	host.Host
	paths  []string
	refuse string
	said   string
}

func (a *agent) Path(text string) int32 {
	if text == a.refuse {
		return -1
	}
	a.paths = append(a.paths, text)
	return int32(len(a.paths) - 1)
}

func (a *agent) Reason(code, message string) { a.said = code + message }

// fresh resets the state of the guest for a test, and returns an agent.
func fresh(t *testing.T) *agent {
	t.Helper()
	before, area, own, hooks, record := fields, calls, setups, Hooks, native
	a := &agent{}
	host.Use(a)
	t.Cleanup(func() {
		fields, calls, setups, Hooks, native = before, area, own, hooks, record
		host.Use(nil)
	})
	calls.memory, setups = memory{}, nil
	fields.declared, fields.lazy, fields.recorded = nil, 0, nil
	return a
}

func read(handle int) record.Value { return Field(handle, Place(handle)) }

func oneString(s string) []byte {
	var w record.Writer
	w.Begin(1)
	w.Field(0)
	w.String(s)
	return w.Out
}

func TestInitDeclaresTheFieldsInOrderThenSetsUp(t *testing.T) {
	a := fresh(t)
	if Declare("object.a") != 0 || Declare("object.b") != 1 {
		t.Error("handles do not count from 0")
	}
	var order []int
	for i := range 2 {
		OnInit(func() error {
			if len(a.paths) != 2 {
				t.Error("setup comes before the fields are declared")
			}
			order = append(order, i)
			return nil
		})
	}
	if Init() != 0 || a.said != "" {
		t.Errorf("refused: %s", a.said)
	}
	if !slices.Equal(a.paths, []string{"object.a", "object.b"}) || !slices.Equal(order, []int{0, 1}) {
		t.Errorf("paths %q, setups %v", a.paths, order)
	}
}

func TestInitRefuses(t *testing.T) {
	for what, test := range map[string]struct {
		setup func() error
		want  string
	}{
		"a field the agent refuses":          {func() error { return nil }, "the agent refuses the field object.bad"},
		"what a setup refuses":               {func() error { return errors.New("no") }, "no"},
		"a misuse although setup is content": {func() error { Fault("misuse"); return nil }, "misuse"},
		"the misuse first, then its consequence": {
			func() error { Fault("misuse"); Fault("later"); return errors.New("consequence") }, "misuse",
		},
		"a field read in setup": {func() error { read(0); return nil }, "object.a is read where no pod is judged"},
	} {
		t.Run(what, func(t *testing.T) {
			a := fresh(t)
			Declare("object.a")
			if strings.Contains(what, "agent refuses") {
				a.refuse = "object.bad"
				Declare("object.bad")
			}
			OnInit(test.setup)
			OnInit(func() error {
				if strings.Contains(what, "refuses") {
					t.Error("a setup runs after one that failed")
				}
				return nil
			})
			if Init() != 1 || !strings.Contains(a.said, test.want) {
				t.Errorf("said %q, want %q", a.said, test.want)
			}
		})
	}
}

func TestARecordIsThereBetweenBeginAndEnd(t *testing.T) {
	fresh(t)
	handle := Declare("object.a")
	if Init() != 0 || !Fill(oneString("x")) {
		t.Fatal("not ready")
	}
	if err := Begin(); err != nil {
		t.Fatal(err)
	}
	if got := read(handle).Text(); got != "x" {
		t.Errorf("got %q", got)
	}
	if fault := End(); fault != "" {
		t.Error(fault)
	}
	if got := read(handle); got.Kind() != record.Missing || calls.fault == "" {
		t.Errorf("after the end there is %v, and no fault", got)
	}
}

func TestFieldsAreDeclaredBeforeInit(t *testing.T) {
	fresh(t)
	if Init() != 0 || !Fill(nil) || Begin() != nil {
		t.Fatal("a plugin without fields needs no record")
	}
	if handle := Declare("object.a"); handle >= 0 {
		t.Errorf("got handle %d", handle)
	}
	if fault := End(); !strings.Contains(fault, "declared too late") {
		t.Errorf("got %q", fault)
	}
}

func TestABadRecordIsAnErrorNotAVerdict(t *testing.T) {
	fresh(t)
	Declare("object.a")
	if Init() != 0 {
		t.Fatal("not ready")
	}
	for what, fill := range map[string]func(){
		"none":                      func() { Fill(nil) },
		"one that is torn":          func() { Fill(oneString("x")[:6]) },
		"one of other fields":       func() { Fill([]byte{0, 0}) },
		"one longer than its place": func() { calls.length = Capacity + 1 },
	} {
		fill()
		if err := Begin(); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}

func TestTheLongestRecordFillsTheArea(t *testing.T) {
	fresh(t)
	Declare("object.a")
	if Init() != 0 {
		t.Fatal("not ready")
	}
	overhead := len(oneString(""))
	longest := strings.Repeat("x", Capacity-overhead)
	if !Fill(oneString(longest)) || Begin() != nil {
		t.Fatal("refused")
	}
	if got := read(0).Text(); got != longest {
		t.Errorf("%d bytes came through, want %d", len(got), len(longest))
	}
	if Fill(oneString(longest + "x")) {
		t.Error("one byte more was accepted")
	}
}

func TestTheInputAreaBeginsWithItsCapacity(t *testing.T) {
	fresh(t)
	area := (*[2]uint32)(Input())
	if area[0] != Capacity {
		t.Errorf("capacity %d", area[0])
	}
	if !Fill([]byte("abc")) || area[1] != 3 {
		t.Errorf("length %d", area[1])
	}
}
