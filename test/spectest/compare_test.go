package spectest

import (
	"strings"
	"testing"
)

func TestRunsDifferWhereTheyDidNotDoTheSame(t *testing.T) {
	t.Parallel()
	made := func(change ...func(*Result)) *Result {
		r := &Result{
			Outcomes: []Outcome{
				{File: "a.json", Line: 1, Type: "module", Text: "instantiated"},
				{File: "a.json", Line: 2, Index: 1, Type: "assert_return", Text: "i32:0x00000001"},
				{File: "a.json", Line: 3, Index: 2, Type: "assert_invalid", Text: "refused: compile", refused: stageCompile},
				{File: "a.json", Line: 4, Index: 3, Type: "assert_unlinkable", Text: "refused: link: import x", refused: stageLink},
			},
			States: []State{{File: "a.json", Line: 1, Memory: "none", Globals: []string{"i32:0x00000001"}}},
		}
		for _, c := range change {
			c(r)
		}
		return r
	}
	for _, x := range []struct {
		name   string
		change func(*Result)
		want   string // a part of the one difference; empty if there is none
	}{
		{"nothing", func(*Result) {}, ""},
		{"the text of an error", func(r *Result) { r.Outcomes[2].Detail = "at byte 7" }, ""},
		{"a module refused earlier", func(r *Result) {
			r.Outcomes[2].refused, r.Outcomes[2].Text = stageTransform, "refused: transform"
		}, ""},
		{"a valid module refused earlier", func(r *Result) {
			r.Outcomes[3].refused, r.Outcomes[3].Text = stageTransform, "refused: transform"
		}, "assert_unlinkable: refused: transform"},
		{"an invalid module refused later", func(r *Result) {
			r.Outcomes[2].refused, r.Outcomes[2].Text = stageLink, "refused: link: import x"
		}, "assert_invalid: refused: link: import x"},
		{"a result", func(r *Result) { r.Outcomes[1].Text = "i32:0x00000002" }, "a.json:2 (1) assert_return: i32:0x00000002\n\tdiffers from\n\ta.json:2 (1) assert_return: i32:0x00000001"},
		{"a command is missing", func(r *Result) { r.Outcomes = r.Outcomes[:3] }, "4 commands were run, and 3 in the other run"},
		{"another command", func(r *Result) { r.Outcomes[1].Line = 9 }, "a.json:9 (1)"},
		{"another file", func(r *Result) { r.Outcomes[1].File = "b.json" }, "b.json:2 (1)"},
		{"a memory", func(r *Result) { r.States[0].Memory = "0 bytes" }, "a.json: the instance of line 1 ends with the memory none, and in the other run 0 bytes"},
		{"a global", func(r *Result) { r.States[0].Globals = []string{"i32:0x00000002"} }, "ends with the globals [i32:0x00000001], and in the other run [i32:0x00000002]"},
		{"a global is missing", func(r *Result) { r.States[0].Globals = nil }, "and in the other run []"},
		{"globals are added", func(r *Result) { r.States[0].Globals = append(r.States[0].Globals, "i64:0x0000000000000000") }, ""},
		{"an instance is missing", func(r *Result) { r.States = nil }, "1 instances were made, and 0 in the other run"},
		{"another instance", func(r *Result) { r.States[0].Line = 2 }, "a.json: the instance of line 1: in its place is the one of a.json line 2"},
	} {
		got := Compare(made(), made(x.change))
		if x.want == "" && len(got) > 0 || x.want != "" && (len(got) != 1 || !strings.Contains(got[0], x.want)) {
			t.Errorf("%s: differences %q, want %q", x.name, got, x.want)
		}
	}
}
