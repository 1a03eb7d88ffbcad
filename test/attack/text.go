package attack

import (
	"fmt"
	"strings"
)

// source is a module's text that is put together by a program, because it is
// long and all alike.
type source struct{ strings.Builder }

// begin writes the comments that a source begins with, and what every plugin
// has. pages is the memory's size.
func begin(pages int, header ...string) *source {
	s := &source{}
	for _, line := range header {
		s.add(";; %s\n", line)
	}
	s.add("(module\n(memory (export \"memory\") %d)\n(func (export \"wardlet_abi_1_0\"))\n", pages)
	return s
}

func (s *source) add(format string, args ...any) { fmt.Fprintf(s, format, args...) }

// repeat writes a text n times.
func (s *source) repeat(n int, text string) { s.WriteString(strings.Repeat(text, n)) }

// locals declares local variables, all of the same type.
func (s *source) locals(n int, kind string) {
	s.add("(local")
	s.repeat(n, " "+kind)
	s.add(")\n")
}

// admit ends the module, with a hook of this code.
func (s *source) admit(code string) string {
	s.add("(func (export \"wardlet_admit\") (result i32)\n%s\n))\n", code)
	return s.String()
}
