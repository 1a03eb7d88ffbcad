package api

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIgnored(t *testing.T) {
	t.Parallel()
	const read = " ignored, as only names that end in .yaml, .yml or .json are read: "
	for name, test := range map[string]struct {
		files       []string
		directories []string
		want        string
	}{
		"nothing":     {nil, nil, ""},
		"one file":    {[]string{"WEB.YAML"}, nil, "1 file is" + read + `"WEB.YAML"`},
		"many files":  {[]string{"e", "b", "a", "d", "c"}, nil, "5 files are" + read + `"a", "b", "c", 2 more`},
		"a directory": {nil, []string{"x"}, "1 directory is ignored: what lies deeper is not read"},
		"both": {
			[]string{"web.yaml~"},
			[]string{"x", "y"},
			"1 file is" + read + `"web.yaml~"; 2 directories are ignored: what lies deeper is not read`,
		},
		"a name that would steer a terminal": {[]string{"a\x1b[2J"}, nil, "1 file is" + read + `"a\x1b[2J"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var i *Ignored
			for _, file := range test.files {
				if i == nil {
					i = &Ignored{}
				}
				i.Add(file, false)
			}
			for _, dir := range test.directories {
				if i == nil {
					i = &Ignored{}
				}
				i.Add(dir, true)
			}
			if got := i.String(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestCompareDocuments(t *testing.T) {
	t.Parallel()
	want := []string{"a#b.yaml#1", "a.yaml#0", "a.yaml#2", "a.yaml#10", "a.yaml#?default/x", "b.yaml#2.9", "b.yaml#2.10", "b.yaml#3", "b.yaml#*", "pod-2"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, CompareDocuments)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}
