package spectest

import (
	"strings"
	"testing"
)

// seeds are some scripts with every type of command.
var seeds = []string{
	`{"source_filename":"a.wast","commands":[
		{"type":"module","line":1,"name":"$m","filename":"a.0.wasm"},
		{"type":"register","line":2,"name":"$m","as":"m"},
		{"type":"action","line":3,"action":{"type":"invoke","field":"f","args":[{"type":"i32","value":"1"}]},"expected":[{"type":"i32"}]},
		{"type":"assert_return","line":4,"action":{"type":"get","module":"$m","field":"g"},"expected":[{"type":"f32","value":"nan:canonical"}]},
		{"type":"assert_trap","line":5,"action":{"type":"invoke","field":"f","args":[]},"text":"unreachable","expected":[]},
		{"type":"assert_exhaustion","line":6,"action":{"type":"invoke","field":"f","args":[]},"text":"call stack exhausted","expected":[]},
		{"type":"assert_invalid","line":7,"filename":"a.1.wasm","text":"type mismatch","module_type":"binary"},
		{"type":"assert_malformed","line":8,"filename":"a.2.wat","text":"unexpected token","module_type":"text"},
		{"type":"assert_unlinkable","line":9,"filename":"a.3.wasm","text":"unknown import","module_type":"binary"},
		{"type":"assert_uninstantiable","line":10,"filename":"a.4.wasm","text":"unreachable","module_type":"binary"}]}`,
	`{"source_filename":"b.wast","commands":[
		{"type":"assert_return","line":1,"action":{"type":"invoke","field":"v","args":[{"type":"v128","lane_type":"i64","value":["1","2"]},{"type":"externref","value":"3"}]},
		 "expected":[{"type":"v128","lane_type":"f32","value":["1","nan:arithmetic","3","4"]},{"type":"funcref","value":"null"},{"type":"f64","value":"7"}]}]}`,
	`{"commands":[]}`,
}

func TestScriptsAreReadWithEveryTypeOfCommand(t *testing.T) {
	t.Parallel()
	for _, text := range seeds {
		if _, err := parse([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestCommandsThatCannotBeRunAreRefused(t *testing.T) {
	t.Parallel()
	const module = `{"type":"module","line":1,"filename":"a.wasm"},`
	for commands, want := range map[string]string{
		`{"type":"thread","line":3}`:                                                                                            "the type is unknown",
		`{"type":"module","line":3,"wait":true}`:                                                                                `unknown field "wait"`,
		`{"type":"module","line":3}`:                                                                                            "it must have a module and no action",
		`{"type":"module","line":3,"filename":"a.wat","module_type":"text"}`:                                                    `module_type "text" cannot be run`,
		`{"type":"assert_invalid","line":3,"filename":"a.wasm"}`:                                                                `module_type "" is neither binary nor text`,
		`{"type":"assert_uninstantiable","line":3,"filename":"a.wasm","module_type":"binary","text":"boom"}`:                    `the trap "boom" is unknown`,
		`{"type":"assert_return","line":3}`:                                                                                     "it must have an action and no module",
		`{"type":"action","line":3,"action":{"type":"call","field":"f"}}`:                                                       `action "call" cannot be run`,
		`{"type":"assert_trap","line":3,"action":{"type":"get","field":"g"},"text":"unreachable"}`:                              `action "get" cannot be run`,
		`{"type":"assert_trap","line":3,"action":{"type":"invoke","field":"g"},"text":"boom"}`:                                  `the trap "boom" is unknown`,
		`{"type":"assert_return","line":3,"action":{"type":"invoke","field":"f"},"expected":[{"type":"i32"}]}`:                  "a result has no value",
		`{"type":"action","line":3,"action":{"type":"invoke","field":"f","args":[{"type":"i32"}]}}`:                             "an argument has no value",
		`{"type":"action","line":3,"action":{"type":"invoke","field":"f","args":[{"type":"f32","value":"nan:canonical"}]}}`:     "an argument has no value",
		`{"type":"register","line":3,"as":"m"}`:                                                                                 "it does not follow the module it names",
		module + `{"type":"register","line":3,"name":"$m","as":"m"}`:                                                            "it does not follow the module it names",
		module + `{"type":"register","line":3,"as":"m"},{"type":"register","line":3,"as":"n"}`:                                  "it does not follow the module it names",
		module + `{"type":"action","line":3,"action":{"type":"invoke","field":"f"}},{"type":"register","line":3,"as":"module"}`: "it does not follow the module it names",
	} {
		if _, err := parse([]byte(`{"commands":[` + commands + `]}`)); err == nil {
			t.Errorf("%s is accepted", commands)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %q, want %q", commands, err, want)
		}
	}
	if _, err := parse([]byte(`{"commands":[]} {}`)); err == nil {
		t.Error("something after the script is accepted")
	}
}

// FuzzParse parses any script. If it is accepted, its arguments must convert to wazero's encoding,
// and expected constants must have the text that show returns.
func FuzzParse(f *testing.F) {
	for _, text := range seeds {
		f.Add([]byte(text))
	}
	for _, c := range constants {
		f.Add([]byte(`{"commands":[{"type":"assert_return","line":1,"action":{"type":"invoke","field":"f"},"expected":[` + c.json + `]}]}`))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parse(data)
		if err != nil {
			return
		}
		for i := range s.Commands {
			c := &s.Commands[i]
			if c.Action != nil {
				for _, arg := range c.Action.Args {
					arg.words()
				}
			}
			for _, want := range c.Expected {
				if want.absent {
					continue
				}
				if got := show(want.kind, want.words(), &want); !strings.Contains(want.text(), "nan:") && got != want.text() {
					t.Errorf("%+v is shown as %q and wanted as %q", want, got, want.text())
				}
			}
		}
	})
}
