package policy

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
)

var (
	shadowMode  = regexp.MustCompile(`^(\s*mode\s*=\s*)(?:"shadow"|'shadow')(.*)$`)
	tableHeader = regexp.MustCompile(`^\s*\[`)
	shadowTable = regexp.MustCompile(`^\s*\[\s*shadow\s*\]`)
	noKey       = regexp.MustCompile(`^\s*(#.*)?$`)
)

// Promoted is the text of a candidate's document as one of the mode that the policy has
// whose place it takes: all else of it stays, but for the table shadow. What stands
// behind the last key of that belongs to what follows. name is what faults call the document.
func Promoted(name string, text []byte, mode string) ([]byte, error) {
	before, err := parseDocument(name, name, text, true)
	if err != nil {
		return nil, err
	}
	if before.Mode != modeShadow {
		return nil, fmt.Errorf("%s: its mode is %q, not %q", name, before.Mode, modeShadow)
	}
	var out, behind strings.Builder
	table, inShadow := false, false
	for line := range strings.Lines(string(text)) {
		bare := strings.TrimRight(line, "\r\n")
		if tableHeader.MatchString(bare) {
			out.WriteString(behind.String())
			behind.Reset()
			if table, inShadow = true, shadowTable.MatchString(bare); inShadow {
				continue
			}
		}
		switch {
		case inShadow && noKey.MatchString(bare):
			behind.WriteString(line)
			continue
		case inShadow:
			behind.Reset()
			continue
		}
		if m := shadowMode.FindStringSubmatch(bare); m != nil && !table {
			line = m[1] + fmt.Sprintf("%q", mode) + m[2] + line[len(bare):]
		}
		out.WriteString(line)
	}
	out.WriteString(behind.String())
	after, err := parseDocument(name, name, []byte(out.String()), true)
	if err != nil {
		return nil, fmt.Errorf("its mode cannot be changed, do it by hand: %w", err)
	}
	want := before.keys
	want.Mode, want.Shadow = mode, defaultThreshold()
	if !reflect.DeepEqual(withoutCompiled(want), withoutCompiled(after.keys)) {
		return nil, errors.New(name + ": its mode cannot be changed, do it by hand: set mode and take the table [shadow] away")
	}
	return []byte(out.String()), nil
}

// withoutCompiled are keys without what is only made of them.
func withoutCompiled(k keys) keys {
	k.Match.compiled, k.Match.selector = nil, nil
	return k
}
