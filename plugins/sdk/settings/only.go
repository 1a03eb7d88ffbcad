package settings

import (
	"errors"

	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
)

// Only returns an error if there is a setting whose name is not among names. It is for
// plugins that read their settings one by one, with sdk.StringSetting and similar
// functions: without it, a misspelt setting would look like a missing setting. The error
// has each unknown name, with the most similar of names. Only does not check the content of
// tables.
func Only(names ...string) error {
	table, err := guest.Settings()
	if err != nil || table == "" {
		return err
	}
	var f faults
	p := parser{text: table}
	if p.next().kind != object {
		p.tear()
	}
	for name, ok := p.member(true); ok; name, ok = p.member(false) {
		known := false
		for i := range names {
			known = known || names[i] == name
		}
		if !known {
			f.unknown("", name, names)
		}
		p.skip(p.next())
	}
	return f.err(p.torn)
}

// faults collects what is wrong with the settings.
type faults struct{ text string }

func (f *faults) add(text string) {
	if f.text != "" {
		f.text += "; "
	}
	f.text += text
}

func (f *faults) err(torn bool) error {
	switch {
	case torn:
		return errors.New("the settings are not written as JSON: the agent and this plugin do not fit")
	case f.text != "":
		return errors.New(f.text)
	}
	return nil
}

// unknown adds the fault that a setting is not one of the known settings of its table. If a
// known setting has a similar name, the fault suggests the most similar one.
func (f *faults) unknown(path, name string, known []string) {
	text := "there is no setting " + join(path, name)
	best, least := "", 1+len(name)/2
	for _, k := range known {
		if d := distance(name, k); d < least {
			best, least = k, d
		}
	}
	if best != "" {
		text += ": did you mean " + join(path, best) + "?"
	}
	f.add(text)
}

// distance returns how many characters must be added, removed or changed to turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}
