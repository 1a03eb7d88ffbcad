package harness

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

func TestConfigure_anAgentHasItsOwnPlaces(t *testing.T) {
	t.Parallel()
	a := &Agent{Dir: t.TempDir()}
	for _, s := range []Settings{
		{Node: "n", Endpoint: "unix:///run/c.sock"},
		{Node: "n", Endpoint: "unix:///run/c.sock", LogLevel: "debug", Period: "1s", Policies: true},
	} {
		if err := a.Configure(&s); err != nil {
			t.Fatal(err)
		}
		var config struct {
			Node          string `toml:"node_name"`
			LogLevel      string `toml:"log_level"`
			Paths, Policy map[string]string
			Runtime       struct{ Endpoint string }
			Source        []map[string]string
		}
		if _, err := toml.DecodeFile(a.ConfigFile(), &config); err != nil {
			t.Fatal(err)
		}
		if config.Node != s.Node || config.LogLevel != s.LogLevel || config.Runtime.Endpoint != s.Endpoint ||
			len(config.Source) != 1 || config.Source[0]["path"] != a.Manifest() || config.Source[0]["period"] != s.Period ||
			config.Paths["cgroup_root"] != "/"+a.Cgroup() || (config.Policy["dir"] == a.PolicyDir()) != s.Policies {
			t.Errorf("%+v gives %+v", s, config)
		}
		for key, path := range config.Paths {
			if key != "cgroup_root" && !strings.HasPrefix(path, a.Dir+"/") {
				t.Errorf("%s is %s", key, path)
			}
		}
	}
}

func TestNewAgent_makesAnEmptyDirectoryOfManifests(t *testing.T) {
	t.Parallel()
	a, err := NewAgent("test", "/no/such/agent")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(a.Dir); err != nil {
			t.Error(err)
		}
	})
	if entries, err := os.ReadDir(a.Manifest()); err != nil || len(entries) > 0 {
		t.Errorf("it holds %v, %v", entries, err)
	}
	if err := a.Start(); err == nil || !strings.Contains(err.Error(), "start the agent") {
		t.Errorf("a program that is not there: %v", err)
	}
}

func TestEntries_areTheirPaths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing")
	if got, err := Entries(missing, dir); len(got) > 0 || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("nowhere", link); err != nil {
		t.Fatal(err)
	}
	if got, err := Entries(missing, dir); !slices.Equal(got, []string{link}) || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestLeft_isWhatIsInTheDirectoriesOfPods(t *testing.T) {
	t.Parallel()
	a := &Agent{Dir: filepath.Join(t.TempDir(), "wardlet-no-such")}
	if got, err := a.Left(); len(got) > 0 || err != nil {
		t.Errorf("of none: %q, %v", got, err)
	}
	pod := a.Path("root", "pods", "u-1")
	if err := os.MkdirAll(pod, 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := a.Left(); !slices.Equal(got, []string{pod}) || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
