package attack

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

func TestHeadersAreRead(t *testing.T) {
	t.Parallel()
	got, err := parseHeader("name", `;; It does this,
;; and that.
;; pages: 7
;; fuel: 1000
;; output: 99
;; features: threads no-check
;; ends: Trap integer divide
;; write answers: deny
;; look ends: FuelExhausted more than
(module)
;; answers: allow
`)
	want := &Module{
		Name: "name", What: "It does this, and that.", pages: 7, fuel: 1000, output: 99, features: []string{"threads", "no-check"}, candidates: 3,
		Questions: []Question{
			{Hook: abi.HookAdmit, Image: "attack", Want: Expectation{Code: abi.Trap, Part: "integer divide"}},
			{Hook: abi.HookAdmit, Image: "write", Want: Expectation{Answer: "deny"}},
			{Hook: abi.HookAdmit, Image: "look", Want: Expectation{Code: abi.FuelExhausted, Part: "more than"}},
		},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v\nwant %+v", got, err, want)
	}
	got, err = parseHeader("name", ";; It does this.\n;; refused: HostDenied open_socket\n")
	want = &Module{
		Name: "name", What: "It does this.", pages: 4, fuel: 2_000_000, output: 65_536, candidates: 3, named: abi.HookAdmit,
		Refused: &Expectation{Code: abi.HostDenied, Part: "open_socket"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v\nwant %+v", got, err, want)
	}
}

func TestHeadersOfOtherHooksAreRead(t *testing.T) {
	t.Parallel()
	got, err := parseHeader("name", `;; It does this.
;; candidates: 1000
;; merge answers: winner-999 Because
;; merge look ends: Trap u
;; filter answers: defer-1m0s
;; look answers: allow
`)
	want := &Module{
		Name: "name", What: "It does this.", pages: 4, fuel: 2_000_000, output: 65_536, candidates: 1000,
		Questions: []Question{
			{Hook: abi.HookMerge, Image: "attack", Want: Expectation{Answer: "winner-999", Part: "Because"}},
			{Hook: abi.HookMerge, Image: "look", Want: Expectation{Code: abi.Trap, Part: "u"}},
			{Hook: abi.HookFilter, Image: "attack", Want: Expectation{Answer: "defer-1m0s"}},
			{Hook: abi.HookAdmit, Image: "look", Want: Expectation{Answer: "allow"}},
		},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v\nwant %+v", got, err, want)
	}
	if hooks := got.Options("policy").Hooks; !slices.Equal(hooks, []string{"merge", "filter", "admit"}) {
		t.Errorf("hooks %v", hooks)
	}
	got, err = parseHeader("name", ";; It.\n;; filter refused: AbiMismatch no\n")
	if err != nil || !slices.Equal(got.Options("policy").Hooks, []string{"filter"}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestHeadersThatSayTooLittleAreRefused(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"(module)":                                       "does not begin with a comment that says what it does",
		";; answers: allow":                              "does not begin with a comment that says what it does",
		";; It.":                                         "does not say how it must end",
		";; It.\n;; answer: allow":                       "does not say how it must end",
		";; It.\n;; answers: yes":                        `no answer of the hook admit: "yes"`,
		";; It.\n;; merge answers: allow":                `no answer of the hook merge: "allow"`,
		";; It.\n;; filter answers: defer":               `no answer of the hook filter: "defer"`,
		";; It.\n;; merge pages: 7":                      "only refused, ends and answers are of a hook",
		";; It.\n;; ends: Boom it broke":                 `no code of a failure: "Boom"`,
		";; It.\n;; ends: HostError it":                  `no code of a failure: "HostError"`,
		";; It.\n;; ends: Trap":                          "a part of the failure's text must follow",
		";; It.\n;; fuel: much":                          "invalid syntax",
		";; It.\n;; fuel: -1":                            "invalid syntax",
		";; It.\n;; pages: 99999999999":                  "value out of range",
		";; It.\n;; look refused: Trap it":               "only ends and answers are of an image",
		";; It.\n;; refused: Trap it\n;; answers: allow": "what must be refused cannot be asked",
	} {
		if _, err := parseHeader("name", header); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v\nwant %s", header, err, want)
		}
	}
}

func FuzzHeader(f *testing.F) {
	f.Add(";; It.\n;; pages: 7\n;; look ends: Trap it\n(module)")
	f.Add(";; It.\n;; refused: AbiMismatch no\n;; features: a b")
	f.Fuzz(func(t *testing.T, source string) {
		m, err := parseHeader("name", source)
		if err == nil && (m.What == "" || (m.Refused == nil) == (len(m.Questions) == 0)) {
			t.Errorf("%q: %+v", source, m)
		}
	})
}
