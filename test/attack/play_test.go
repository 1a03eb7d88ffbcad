package attack

import (
	"errors"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/test/wasmtest"
)

// TestWhatEndsOtherwiseIsFound plays modules that do not end as expected, to check that the other
// tests can detect this.
func TestWhatEndsOtherwiseIsFound(t *testing.T) {
	e, _ := engine(t, patient)
	allow := Expectation{Answer: "allow"}
	for name, test := range map[string]struct {
		binary  []byte
		refused *Expectation
		image   string
		want    Expectation
		text    string
	}{
		"another answer":          {wasmtest.Answering(1, "", ""), nil, "a", allow, "want the answer allow"},
		"an answer, not the end":  {wasmtest.Answering(0, "", ""), nil, "a", Expectation{Code: abi.Trap, Part: "u"}, `want the failure Trap with "u"`},
		"an end, not the answer":  {wasmtest.Trapping(), nil, "a", allow, "admit asked about a it fails: Trap"},
		"another end":             {wasmtest.Trapping(), nil, "a", Expectation{Code: abi.BadOutput, Part: "u"}, "it ends with Trap: unreachable; want"},
		"the end of other text":   {wasmtest.Trapping(), nil, "a", Expectation{Code: abi.Trap, Part: "divide"}, "it ends with Trap: unreachable; want"},
		"another reason":          {wasmtest.Answering(1, "Why", "so"), nil, "a", Expectation{Answer: "deny", Part: "Other"}, "want the answer deny Other"},
		"loaded, not refused":     {wasmtest.Answering(0, "", ""), &Expectation{Code: abi.AbiMismatch, Part: "a"}, "a", allow, "it is loaded, it must be refused"},
		"refused, not loaded":     {wasmtest.UnknownImport(), nil, "a", allow, "it is refused: HostDenied"},
		"refused for another":     {wasmtest.UnknownImport(), &Expectation{Code: abi.AbiMismatch, Part: "a"}, "a", allow, "want the failure AbiMismatch"},
		"a secret that is seen":   {wasmtest.Answering(1, "", "a secret"), nil, look, Expectation{Answer: "deny", Part: "a"}, "it sees what another call wrote"},
		"more than it said":       {wasmtest.Warning("hello"), nil, look, allow, "but said nothing"},
		"a secret in the failure": {failing("secret"), nil, "a", Expectation{Code: abi.PluginError, Part: "e"}, "shows what was handed over before it"},
	} {
		m := &Module{
			Name: "module", Binary: test.binary, Refused: test.refused, Questions: []Question{{Hook: abi.HookAdmit, Image: test.image, Want: test.want}},
			pages: 4, fuel: defaultFuel, output: defaultOutput,
		}
		if test.refused != nil {
			m.Questions = nil
		}
		if err := m.Play(t.Context(), e, 1); err == nil || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: %v\nwant %s", name, err, test.text)
		}
	}
}

// failing returns a plugin that reports an error.
func failing(message string) []byte { return wasmtest.Answering(-1, "", message) }

func TestWhatAnAnswerMustNotComeWithIsFound(t *testing.T) {
	t.Parallel()
	patch := []byte("[]")
	for _, o := range []Outcome{
		{Answer: "deny", Patch: patch}, {Answer: "reject", Patch: patch}, {Answer: "pass", Patch: patch}, {Answer: "allow", RetryAfter: 1},
	} {
		q := Question{Want: Expectation{Answer: o.Answer}}
		if err := q.judge(&o, nil); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
	for _, o := range []Outcome{{Answer: "allow", Patch: patch}, {Answer: "winner-2", Patch: patch}, {Answer: "hold", RetryAfter: 1}} {
		q := Question{Want: Expectation{Answer: o.Answer}}
		if err := q.judge(&o, nil); err != nil {
			t.Error(err)
		}
	}
}

func TestTextsThatMisleadAreFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"fine\n\tü": "", "a\xffb": "not UTF-8", "a\x1b[2J": "not printable", "a\u202eb": "not printable", "a\rb": "not printable", "a\x00": "not printable",
	} {
		if err := printable(text); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	want := Expectation{Code: abi.Trap, Part: "a"}
	if err := want.failed(errors.New("a")); err == nil {
		t.Error("an error that is no failure of a plugin is not found")
	}
	long := &abi.Failure{Code: abi.Trap, Err: errors.New(strings.Repeat("a", maxFailureBytes))}
	if err := want.failed(long); err == nil {
		t.Error("a failure that is too long is not found")
	}
}
