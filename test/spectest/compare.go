package spectest

import (
	"fmt"
	"slices"
)

// Compare lists the differences between two runs of the same scripts: command by command, and then
// in the states of the instances. want is the run of the unchanged modules. An instance of got may
// have more globals than that of want, after the common ones.
func Compare(want, got *Result) (differences []string) {
	note := func(format string, args ...any) { differences = append(differences, fmt.Sprintf(format, args...)) }
	if len(want.Outcomes) != len(got.Outcomes) {
		note("%d commands were run, and %d in the other run", len(want.Outcomes), len(got.Outcomes))
	}
	for i := range min(len(want.Outcomes), len(got.Outcomes)) {
		if w, g := &want.Outcomes[i], &got.Outcomes[i]; !alike(w, g) {
			note("%s\n\tdiffers from\n\t%s", g, w)
		}
	}
	if len(want.States) != len(got.States) {
		note("%d instances were made, and %d in the other run", len(want.States), len(got.States))
		return differences
	}
	for i := range want.States {
		w, g := &want.States[i], &got.States[i]
		where := fmt.Sprintf("%s: the instance of line %d", w.File, w.Line)
		if w.File != g.File || w.Line != g.Line {
			note("%s: in its place is the one of %s line %d", where, g.File, g.Line)
			continue
		}
		if w.Memory != g.Memory {
			note("%s ends with the memory %s, and in the other run %s", where, w.Memory, g.Memory)
		}
		if len(g.Globals) < len(w.Globals) || !slices.Equal(w.Globals, g.Globals[:len(w.Globals)]) {
			note("%s ends with the globals %v, and in the other run %v", where, w.Globals, g.Globals)
		}
	}
	return differences
}

// alike reports whether two commands had the same outcome. With the transform, an invalid module
// may be refused earlier: by the transform itself.
func alike(w, g *Outcome) bool {
	if w.File != g.File || w.Index != g.Index || w.Line != g.Line || w.Type != g.Type {
		return false
	}
	if (w.Type == "assert_invalid" || w.Type == "assert_malformed") && g.refused == stageTransform {
		return true
	}
	return w.Text == g.Text
}
