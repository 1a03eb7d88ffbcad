package agent

import (
	"os"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/config"
)

func TestCheckSource(t *testing.T) {
	t.Parallel()
	other := strings.ReplaceAll(goodPod, "web", "db")
	for name, test := range map[string]struct {
		files  map[string]string
		change func(*testing.T, *config.Source)
		want   string
	}{
		"good manifests": {
			files: map[string]string{"a.yaml": goodPod + "---\n" + other, "b.txt": "no manifest"},
			want:  "ok source static: 2 manifests, 0 bad",
		},
		"one manifest": {
			files:  map[string]string{"a.yaml": goodPod},
			change: func(_ *testing.T, s *config.Source) { s.Path += "/a.yaml" },
			want:   "ok source static: 1 manifest, 0 bad",
		},
		"no manifest": {
			change: func(t *testing.T, s *config.Source) {
				t.Helper()
				if err := os.Mkdir(s.Path, 0o700); err != nil {
					t.Fatal(err)
				}
			},
			want: "ok source static: 0 manifests, 0 bad",
		},
		"bad ones are named with file and line": {
			files: map[string]string{"a.yaml": goodPod, "b.yaml": strings.ReplaceAll(other, "image:", "imgae:"), "c.yaml": "a: [\n"},
			want: "fail source static: 3 manifests, 2 bad\n" +
				"DIR/static/b.yaml:4: spec.containers[0].imgae: unknown field; did you mean image?\n" +
				"DIR/static/c.yaml:1: did not find expected node content",
		},
		"a file that holds for a reason of its own is one": {
			files: map[string]string{"a.yaml": ""},
			want:  "fail source static: 1 manifest, 1 bad\nDIR/static/a.yaml: the manifest is empty; remove it to end its pods",
		},
		"of two of one name the second does not run": {
			files: map[string]string{"a.yaml": goodPod, "b.yaml": goodPod},
			want: "fail source static: 2 manifests, 1 bad\n" +
				"DIR/static/b.yaml#0: default/web-edge is already defined by DIR/static/a.yaml#0; remove or rename one of them",
		},
		"a path that is missing": {
			want: "fail source static: list manifests: stat DIR/static: no such file or directory; create it, or set missing_path = \"empty\"",
		},
		"a path that may be missing": {
			change: func(_ *testing.T, s *config.Source) { s.MissingPath = config.MissingEmpty },
			want:   "ok source static: 0 manifests, 0 bad",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newSite(t)
			s := n.source(t, "static", test.files)
			if test.change != nil {
				test.change(t, s)
			}
			n.expect(t, []Finding{checkSource(t.Context(), s, "edge")}, test.want)
		})
	}
}
