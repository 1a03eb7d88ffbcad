package verify_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/policy/wasm/verify"
)

// stateful returns a module with two tables, segments that can be dropped, and a function
// with this code, which begins at byte 0x2f.
func stateful(code string) []byte {
	return of(oneType, oneFunction, section(4, "\x02\x70\x00\x05\x70\x00\x05"), oneMemory, section(9, "\x01\x01\x00\x01\x00"),
		section(12, "\x01"), section(10, "\x01"+sized("\x00"+code+"\x0b")), section(11, "\x01\x01\x01a"))
}

func TestStateThatNoResetReachesIsRefused(t *testing.T) {
	t.Parallel()
	changes, gone := ": tables that change could not be put back after a call", ": a segment that is gone could not be put back after a call"
	three := "\x41\x00\x41\x00\x41\x00"
	for name, test := range map[string]struct {
		module []byte
		want   string
	}{
		"table.set":  {stateful("\x41\x00\xd0\x70\x26\x01"), "code section, function 0, at byte 0x33: table.set" + changes},
		"table.grow": {stateful("\xd0\x70\x41\x00\xfc\x0f\x00\x1a"), "code section, function 0, at byte 0x33: table.grow" + changes},
		"table.fill": {stateful("\x41\x00\xd0\x70\x41\x00\xfc\x11\x00"), "code section, function 0, at byte 0x35: table.fill" + changes},
		"table.copy": {stateful(three + "\xfc\x0e\x00\x01"), "code section, function 0, at byte 0x35: table.copy" + changes},
		"table.init": {stateful(three + "\xfc\x0c\x00\x00"), "code section, function 0, at byte 0x35: table.init" + changes},
		"elem.drop":  {stateful("\xfc\x0d\x00"), "code section, function 0, at byte 0x2f: elem.drop" + gone},
		"ref.func": {
			stateful("\xd2\x00\x1a"),
			"code section, function 0, at byte 0x2f: ref.func: what the engine keeps for each could not be given back after a call; use call_indirect",
		},
		"data.drop": {stateful("\xfc\x09\x00"), "code section, function 0, at byte 0x2f: data.drop" + gone},
		"in dead code": {
			stateful("\x00\xfc\x09\x00"), "code section, function 0, at byte 0x30: data.drop" + gone,
		},
		"a mutable vector": {
			of(section(6, "\x01\x7b\x01\xfd\x0c"+strings.Repeat("\x00", 16)+"\x0b")),
			"global section, global 0, at byte 0xb: it is mutable and of type v128: it could not be put back after a call",
		},
		"a mutable function": {
			of(section(6, "\x02\x7f\x01\x41\x00\x0b\x70\x01\xd0\x70\x0b")),
			"global section, global 1, at byte 0x10: it is mutable and of type funcref: it could not be put back after a call",
		},
		"a mutable object of the host's": {
			of(section(6, "\x01\x6f\x01\xd0\x6f\x0b")),
			"global section, global 0, at byte 0xb: it is mutable and of type externref: it could not be put back after a call",
		},
		"an imported memory": {
			of(section(2, "\x01\x03env\x06memory\x02\x00\x01")),
			`import section, import 0, at byte 0xb: it imports the memory "memory" of "env": only functions can be imported`,
		},
		"an imported table": {
			of(section(2, "\x01\x03env\x01t\x01\x70\x00\x01")),
			`import section, import 0, at byte 0xb: it imports the table "t" of "env": only functions can be imported`,
		},
		"an imported global": {
			of(section(2, "\x01\x03env\x01g\x03\x7f\x00")),
			`import section, import 0, at byte 0xb: it imports the global "g" of "env": only functions can be imported`,
		},
		"a long name of the host's": {
			of(section(2, "\x01\x00"+sized(strings.Repeat("x", 65))+"\x03\x7f\x00")),
			`import section, import 0, at byte 0xb: it imports the global "` + strings.Repeat("x", 64) + `…" of "": only functions can be imported`,
		},
		"a start function": {
			of(oneType, oneFunction, section(8, "\x00"), oneBody),
			"start section, at byte 0x14: the module has a start function: it would run before the sandbox is ready; export the function as _initialize instead",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, refused := check(t, test.module, verify.Default()); !slices.Equal(refused, []string{test.want}) {
				t.Errorf("%q\nwant %q", refused, test.want)
			}
		})
	}
}

func TestStateThatIsPutBackIsAccepted(t *testing.T) {
	t.Parallel()
	for name, module := range map[string][]byte{
		"tables that are read":         stateful("\x41\x00\x25\x01\x1a\xfc\x10\x00\x1a\x41\x00\x11\x00\x00"),
		"a segment that stays":         stateful("\x41\x00\x41\x00\x41\x01\xfc\x08\x00\x00"),
		"a memory that grows":          stateful("\x41\x01\x40\x00\x1a"),
		"a memory that is changed":     stateful("\x41\x00\x41\x00\x41\x01\xfc\x0b\x00\x41\x00\x41\x00\x36\x02\x00"),
		"mutable numbers":              of(section(6, "\x04\x7f\x01\x41\x00\x0b\x7e\x01\x42\x00\x0b\x7d\x01\x43\x00\x00\x00\x00\x0b\x7c\x01\x44\x00\x00\x00\x00\x00\x00\x00\x00\x0b")),
		"constants that are no number": of(section(6, "\x02\x7b\x00\xfd\x0c"+strings.Repeat("\x00", 16)+"\x0b\x70\x00\xd0\x70\x0b")),
		"imported functions":           of(oneType, section(2, "\x01\x01a\x01b\x00\x00")),
		"nothing":                      of(),
	} {
		if _, refused := check(t, module, verify.Default()); len(refused) > 0 {
			t.Errorf("%s: %q", name, refused)
		}
	}
}
