package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
	v1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/wardlet/wardlet/test/harness"
)

func TestManifestsAreMovedIntoTheirDirectoryWhole(t *testing.T) {
	t.Parallel()
	m, err := makeManifests(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	one := manifest{name: "update", uid: "bench-update", version: 1}
	before := time.Now()
	began, err := m.drop(one, manifest{name: "other"})
	if err != nil || began.Before(before) {
		t.Fatal(began, err)
	}
	text, err := os.ReadFile(m.path(one))
	if err != nil {
		t.Fatal(err)
	}
	var p v1.Pod
	if err := yaml.UnmarshalStrict(text, &p); err != nil {
		t.Fatal(err)
	}
	if p.Name != "update" || p.UID != "bench-update" || !p.Spec.HostNetwork || p.Spec.Containers[0].Image != images[1] {
		t.Errorf("the pod is %+v", p)
	}
	if _, err := m.remove(one); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(m.path(one)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	if left, err := os.ReadDir(m.aside); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

func TestAKubeletsConfigurationNamesItsOwnPlaces(t *testing.T) {
	t.Parallel()
	a := &agent{Agent: &harness.Agent{Dir: "/tmp/wardlet-bench-7"}}
	var config map[string]any
	if err := yaml.Unmarshal([]byte(kubeletConfig(a, "unix:///run/c.sock", 4001, 4002)), &config); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"staticPodPath": a.Dir + "/manifests", "podLogsDir": a.Dir + "/logs", "cgroupRoot": "/wardlet-bench-7",
		"containerRuntimeEndpoint": "unix:///run/c.sock", "port": 4001.0, "healthzPort": 4002.0, "readOnlyPort": 0.0,
		"failCgroupV1": false, "failSwapOn": false, "makeIPTablesUtilChains": false,
	} {
		if config[key] != want {
			t.Errorf("%s is %v, want %v", key, config[key], want)
		}
	}
}

func TestPoliciesAreInForceUnderTheirNames(t *testing.T) {
	t.Parallel()
	text := guard("# A policy.\nname = \"a\"\nmode = \"off\"\n#mode = x\n[settings]\nallow = [1]\n\n[[test]]\npod = \"x\"\n", "b")
	var document struct {
		Name, Mode string
		Settings   map[string][]int
		Test       []any
	}
	if _, err := toml.Decode(string(text), &document); err != nil {
		t.Fatal(err)
	}
	if document.Name != "b" || document.Mode != "" || len(document.Settings["allow"]) != 1 || len(document.Test) != 0 {
		t.Errorf("got %+v of\n%s", document, text)
	}
}

func TestWhatAKubeletChangedIsPutBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("0\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	undo, err := keepFiles(dir, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := undo(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "a")); err != nil || string(text) != "0\n" {
		t.Errorf("%q, %v", text, err)
	}
}
