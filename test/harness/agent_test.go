package harness

import (
	"os"
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
			Node           string `toml:"node_name"`
			LogLevel       string `toml:"log_level"`
			Paths, Runtime map[string]string
			Source         []map[string]string
			Policy         map[string]string
		}
		if _, err := toml.DecodeFile(a.ConfigFile(), &config); err != nil {
			t.Fatal(err)
		}
		if config.Node != s.Node || config.LogLevel != s.LogLevel || config.Runtime["endpoint"] != s.Endpoint ||
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
