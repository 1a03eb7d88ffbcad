package attack

import (
	"fmt"
	"strings"
)

// source is a module's text that a program writes, because it is long and repetitive.
type source struct{ strings.Builder }

// begin writes the comments with which a source begins, and the parts that every plugin has. pages
// is the size of the memory.
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

// admit ends the module with a hook that has this code.
func (s *source) admit(code string) string {
	s.add("(func (export \"wardlet_admit\") (result i32)\n%s\n))\n", code)
	return s.String()
}
