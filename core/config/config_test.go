package config

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const source = "[[source]]\nname = \"static\"\nkind = \"file\"\npath = \"/etc/wardlet/manifests\"\n"

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func noEnv(string) string { return "" }

func TestCommentedConfiguration(t *testing.T) {
	t.Parallel()
	want := Default()
	want.Sources = []Source{{Name: "static", Kind: KindFile, Path: "/etc/wardlet/manifests", Period: 20 * time.Second, MissingPath: MissingError}}

	shipped, err := os.ReadFile("../../agent.toml")
	if err != nil {
		t.Fatal(err)
	}
	commented := regexp.MustCompile(`(?m)^#([a-z_]+ = )`)
	uncommented := commented.ReplaceAllString(string(shipped), "$1")
	for name, text := range map[string]string{
		"works as it is":                      string(shipped),
		"states the defaults in its comments": uncommented,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := load(write(t, text), noEnv)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("configuration (-want +got):\n%s", diff)
			}
		})
	}

	t.Run("shows every key", func(t *testing.T) {
		t.Parallel()
		code, err := os.ReadFile("config.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, tag := range regexp.MustCompile("`toml:\"(.*)\"`").FindAllStringSubmatch(string(code), -1) {
			if !regexp.MustCompile(`(?m)^(` + tag[1] + ` = |\[+` + tag[1] + `\])`).MatchString(uncommented) {
				t.Errorf("agent.toml does not show %s", tag[1])
			}
		}
	})
}

func TestLoadTakesRelativePathsFromTheFilesDirectory(t *testing.T) {
	t.Parallel()
	path := write(t, "[paths]\nstate_root = \"state\"\nsocket = \"../w.sock\"\n[[source]]\nname = \"a\"\nkind = \"file\"\npath = \"manifests/\"\n")
	dir := filepath.Dir(path)
	c, err := load(path, noEnv)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{c.Paths.StateRoot, c.Paths.Socket, c.Sources[0].Path, c.Paths.PodRoot}
	want := []string{filepath.Join(dir, "state"), filepath.Join(filepath.Dir(dir), "w.sock"), filepath.Join(dir, "manifests"), "/var/lib/wardlet"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

func TestEndpointComesFrom(t *testing.T) {
	t.Parallel()
	const key = "[runtime]\nendpoint = \"unix:///key.sock\"\n"
	for name, test := range map[string]struct{ env, text, want, err string }{
		"the environment first": {env: "unix:///env.sock", text: key, want: "unix:///env.sock"},
		"then the key":          {text: key, want: "unix:///key.sock"},
		"else containerd":       {want: "unix:///run/containerd/containerd.sock"},
		"no faulty environment": {
			env: "/env.sock", text: key,
			err: `environment variable CONTAINER_RUNTIME_ENDPOINT: "/env.sock" has no scheme; write "unix:///env.sock"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := load(write(t, test.text+source), func(name string) string {
				if name != EndpointVariable {
					t.Errorf("asked for %s", name)
				}
				return test.env
			})
			switch {
			case test.err != "":
				if err == nil || err.Error() != test.err {
					t.Errorf("error %v, want %s", err, test.err)
				}
			case err != nil:
				t.Error(err)
			case c.Runtime.Endpoint != test.want:
				t.Errorf("endpoint %s, want %s", c.Runtime.Endpoint, test.want)
			}
		})
	}
}

func TestLoadOfAMissingFileSaysSo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "none.toml")
	_, err := load(path, noEnv)
	want := "cannot read the configuration: open " + path + ": no such file or directory; " +
		"name another file with --config, or begin with a copy of agent.toml"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestLoadOfAFileThatIsThereGivesNoAdviceToMakeOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := load(dir, noEnv)
	want := "cannot read the configuration: read " + dir + ": is a directory"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
