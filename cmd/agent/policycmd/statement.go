package policycmd

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/policy/author"
	"github.com/wardlet/wardlet/core/printable"
)

// printStatement prints the parts of a policy's statement that follow the answer, and the lines
// that the policy logged.
func (a *app) printStatement(s *author.Statement, log []string, indent string) {
	t := cli.Table{W: &indented{a.Out, indent}}
	var rows [][]string
	add := func(label string, texts ...string) {
		first := true
		for _, text := range texts {
			for line := range strings.Lines(text) {
				if line = strings.TrimSuffix(line, "\n"); first {
					rows, first = append(rows, []string{label, printable.Line(line)}), false
				} else {
					rows = append(rows, []string{"", printable.Line(line)})
				}
			}
		}
	}
	if s != nil {
		add("Failure:", s.Failure)
		add("Not asked:", s.NotAsked)
		add("Code:", s.Code)
		add("Message:", s.Message)
		add("Retry after:", s.RetryAfter)
		add("Warnings:", s.Warnings...)
		for _, key := range slices.Sorted(maps.Keys(s.Annotations)) {
			add("Annotation:", key+"="+s.Annotations[key])
		}
		add("Explanation:", s.Explanation)
		add("Patch:", string(s.Patch))
		add("Changed:", s.Changed...)
		add("Read:", s.Reads...)
		fuel := strconv.FormatInt(s.Fuel, 10)
		if s.HostFuel > 0 {
			fuel += fmt.Sprintf(", and %d for conditions and the patch", s.HostFuel)
		}
		add("Fuel:", fuel)
	}
	add("Log:", log...)
	t.Print(rows...)
}

// indented adds an indent before each write, which is one line of a table.
type indented struct {
	w      io.Writer
	indent string
}

func (i *indented) Write(line []byte) (int, error) {
	if _, err := i.w.Write([]byte(i.indent)); err != nil {
		return 0, err
	}
	return i.w.Write(line)
}
