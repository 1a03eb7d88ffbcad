package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/preflight"
	"github.com/wardlet/wardlet/test/fakecri"
)

// configured writes a configuration with one source and the lines of more. All its paths are in a
// directory of the test.
func configured(t *testing.T, endpoint, more string) (dir, file string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "wardlet") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Mkdir(filepath.Join(dir, "manifests"), 0o700); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(dir, "agent.toml")
	text := fmt.Sprintf("node_name = \"edge\"\n%s[paths]\nstate_root = \"state\"\npod_root = \"pods\"\nlog_root = \"log\"\nsocket = \"w.sock\"\ncgroup_root = \"/%s\"\n"+
		"[runtime]\nendpoint = %q\n[[source]]\nname = \"static\"\nkind = \"file\"\npath = \"manifests\"\n", more, filepath.Base(dir), endpoint)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, file
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		more      string
		manifests map[string]string
		away      bool
		open      bool
	}{
		"check":                {manifests: map[string]string{"a.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: i}]}\n"}},
		"check-open-config":    {open: true},
		"check-fails":          {manifests: map[string]string{"a.yaml": "apiVersion: v1\nkind: Pod\n", "b.yaml": "kind: [\n"}},
		"check-fails-twice":    {manifests: map[string]string{"a.yaml": "apiVersion: v1\nkind: Pod\n"}, away: true},
		"check-broken-config":  {more: "log_lvel = \"info\"\nnode_nam = \"x\"\n"},
		"check-steers-nothing": {manifests: map[string]string{"a\x1b[2J.yaml": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cri := fakecri.Start(t)
			if test.away {
				cri.Stop()
			}
			dir, file := configured(t, cri.Endpoint(), test.more)
			for name, text := range test.manifests {
				if err := os.WriteFile(filepath.Join(dir, "manifests", name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if test.open {
				if err := os.Chmod(file, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			golden(t, name, wardlet(t.Context(), "check", "--config", file), dir, "DIR", cri.Endpoint()[len("unix://"):], "RUNTIME")
			if _, err := os.Stat(filepath.Join(dir, "state")); !os.IsNotExist(err) {
				t.Errorf("a check made the state directory: %v", err)
			}
		})
	}
}

func TestCheckOfAConfigurationThatIsMissing(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "none.toml")
	golden(t, "check-no-config", wardlet(t.Context(), "check", "--config", file), file, "FILE")
}

func TestFurtherLinesOfAFindingAreIndented(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		finding preflight.Finding
		want    string
	}{
		"without a message":  {preflight.Finding{Level: preflight.LevelOK, Subject: "a"}, "ok    a\n"},
		"of one line":        {preflight.Finding{Level: preflight.LevelWarn, Subject: "a", Message: "b"}, "warn  a: b\n"},
		"of several lines":   {preflight.Finding{Level: preflight.LevelFail, Subject: "a", Message: "b:\nc\nd\n"}, "fail  a: b:\n      c\n      d\n"},
		"of a foreign hand":  {preflight.Finding{Level: preflight.LevelFail, Subject: "a", Message: "b\x1b]0;c"}, "fail  a: b\\x1b]0;c\n"},
		"with other scripts": {preflight.Finding{Level: preflight.LevelOK, Subject: "ä", Message: "日本"}, "ok    ä: 日本\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			(&app{&cli.App{Out: &out}}).printFinding(test.finding)
			if out.String() != test.want {
				t.Errorf("printed %q, want %q", out.String(), test.want)
			}
		})
	}
}
