package spec

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/wardlet/wardlet/core/strict"
)

// Threshold has the conditions that the comparison of a candidate must meet before the
// candidate may replace the policy in force.
type Threshold struct {
	// MaxDifference is the greatest share of decisions that may differ, 0 to 1.
	MaxDifference float64 `toml:"max_difference"`
	// MinDecisions and MinTime are the least number of decisions and the least time
	// of the comparison.
	MinDecisions int           `toml:"min_decisions"`
	MinTime      time.Duration `toml:"min_time"`
}

func defaultThreshold() Threshold { return Threshold{MinDecisions: 100, MinTime: 10 * time.Minute} }

func (d *Document) checkThreshold(report strict.Report) {
	t := &d.Shadow
	if d.Mode != ModeShadow && *t != defaultThreshold() {
		report("shadow", "it counts in mode %q only; leave it out", ModeShadow)
		return
	}
	if !(t.MaxDifference >= 0 && t.MaxDifference <= 1) {
		report("shadow.max_difference", "want 0 to 1, found %v", t.MaxDifference)
	}
	between(report, "shadow.min_decisions", t.MinDecisions, 1, 1_000_000)
	if t.MinTime < 0 {
		report("shadow.min_time", "want a duration of 0 or more, found %s", t.MinTime)
	}
}

var (
	shadowMode  = regexp.MustCompile(`^(\s*mode\s*=\s*)(?:"shadow"|'shadow')(.*)$`)
	tableHeader = regexp.MustCompile(`^\s*\[`)
	shadowTable = regexp.MustCompile(`^\s*\[\s*shadow\s*\]`)
	noKey       = regexp.MustCompile(`^\s*(#.*)?$`)
)

// Promoted returns the text of a candidate's document with mode, the mode of the policy
// that it replaces, and without the table [shadow]. The rest does not change; comments
// behind the last key of the table are kept, because they belong to the next table. name is
// the document's name in errors.
func Promoted(name string, text []byte, mode string) ([]byte, error) {
	before, err := Parse(name, name, text, true)
	if err != nil {
		return nil, err
	}
	if before.Mode != ModeShadow {
		return nil, fmt.Errorf("%s: its mode is %q, not %q", name, before.Mode, ModeShadow)
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
	after, err := Parse(name, name, []byte(out.String()), true)
	if err != nil {
		return nil, fmt.Errorf("its mode cannot be changed, do it by hand: %w", err)
	}
	want := before.Keys
	want.Mode, want.Shadow = mode, defaultThreshold()
	if !reflect.DeepEqual(withoutCompiled(want), withoutCompiled(after.Keys)) {
		return nil, errors.New(name + ": its mode cannot be changed, do it by hand: set mode and take the table [shadow] away")
	}
	return []byte(out.String()), nil
}

// withoutCompiled returns the keys without the fields that are computed from other keys.
func withoutCompiled(k Keys) Keys {
	k.Match.Compiled, k.Match.selector = nil, nil
	return k
}
