package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sys/unix"

	"github.com/wardlet/wardlet/core/strict"
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
	static := Source{Name: "static", Kind: KindFile, Path: "/etc/wardlet/manifests", Period: 20 * time.Second, MissingPath: MissingError}
	minimal := Default()
	minimal.Sources = []Source{static}
	full := Default()
	full.Sources = []Source{
		static,
		{Name: "fleet", Kind: KindHTTP, URL: "https://fleet.example/nodes/edge-1.yaml", Period: 20 * time.Second, Timeout: 10 * time.Second},
		{Name: "api", Kind: KindAPI, Path: "/etc/wardlet/kubeconfig"},
	}
	full.Cluster.Kubeconfig = "/etc/wardlet/kubeconfig"
	full.NodeAPI.CertFile, full.NodeAPI.KeyFile, full.NodeAPI.ClientCAFile = "/etc/wardlet/node.crt", "/etc/wardlet/node.key", "/etc/wardlet/clients.crt"
	full.Tenants = []Tenant{{Name: "a", Namespaces: []string{"tenant-a-*"}, MaxPriority: 1_000_000_000, MaxSuppress: 5 * time.Minute, FuelPerSecond: 500_000_000, CompilePerHour: 2 * time.Minute, LogBytesPerSecond: 4 << 10, PolicyMemory: 64 << 20, RecordBytes: 8 << 20}}

	full.Runtime.Handlers = []RuntimeHandler{{Class: "gvisor", Handler: "gvisor"}}

	file, err := os.ReadFile("../../agent.toml")
	if err != nil {
		t.Fatal(err)
	}
	shipped := string(file)
	withExamples := regexp.MustCompile(`(?m)^## `).ReplaceAllString(shipped, "")
	commented := regexp.MustCompile(`(?m)^#([a-z_]+ = )`)
	everything := commented.ReplaceAllString(withExamples, "$1")
	for name, test := range map[string]struct {
		text string
		want *Config
	}{
		"works as it is":                                {shipped, minimal},
		"states the defaults in its comments":           {commented.ReplaceAllString(shipped, "$1"), minimal},
		"has examples that work":                        {withExamples, full},
		"states the defaults in the examples' comments": {everything, full},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := load(write(t, test.text), noEnv)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("configuration (-want +got):\n%s", diff)
			}
		})
	}

	t.Run("shows every key", func(t *testing.T) {
		t.Parallel()
		var code []byte
		for _, name := range []string{"config.go", "node.go", "cluster.go", "nodeapi.go", "source.go", "tenant.go", "conflicts.go"} {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			code = append(code, text...)
		}
		tags := regexp.MustCompile("`toml:\"(.*)\"`").FindAllSubmatch(code, -1)
		if len(tags) < 40 {
			t.Fatalf("only %d keys found", len(tags))
		}
		for _, tag := range tags {
			if former := string(tag[1]); former == "token_file" || former == "experimental" {
				continue
			}
			if !regexp.MustCompile(`(?m)^(` + string(tag[1]) + ` = |\[+` + string(tag[1]) + `\])`).MatchString(everything) {
				t.Errorf("agent.toml does not show %s", tag[1])
			}
		}
	})
}

func TestLoadTakesRelativePathsFromTheFilesDirectory(t *testing.T) {
	t.Parallel()
	path := write(t, "[paths]\nstate_root = \"state\"\nsocket = \"../w.sock\"\n[[source]]\nname = \"a\"\nkind = \"file\"\npath = \"manifests/\"\n"+
		"[[source]]\nname = \"b\"\nkind = \"http\"\nurl = \"https://h\"\nheader_file = \"headers\"\nca_file = \"ca\"\n"+
		"client_cert_file = \"cert\"\nclient_key_file = \"key\"\n"+
		"[cluster]\nkubeconfig = \"kubeconfig\"\n")
	dir := filepath.Dir(path)
	c, err := load(path, noEnv)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{c.Paths.StateRoot, c.Paths.Socket, c.Sources[0].Path, c.Cluster.Kubeconfig, c.Paths.PodRoot}
	for i, s := range c.Sources {
		for _, key := range s.fileKeys() {
			if key.path != "" {
				got = append(got, fmt.Sprintf("%d %s %s", i, key.name, key.path))
			}
		}
	}
	want := []string{filepath.Join(dir, "state"), filepath.Join(filepath.Dir(dir), "w.sock"), filepath.Join(dir, "manifests"), filepath.Join(dir, "kubeconfig"), "/var/lib/wardlet"}
	for _, key := range []string{"1 header_file headers", "1 ca_file ca", "1 client_cert_file cert", "1 client_key_file key"} {
		at := strings.LastIndexByte(key, ' ') + 1
		want = append(want, key[:at]+filepath.Join(dir, key[at:]))
	}
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

// A file adds keys to a base: its values count, and the sources of both are read.
func TestLoadOver(t *testing.T) {
	t.Parallel()
	located := func(faults strict.Errors) strict.Errors {
		return slices.DeleteFunc(slices.Clone(faults), func(e strict.Error) bool { return e.Key == "" })
	}
	base := &Base{Text: []byte("[[source]]\nname = \"static\"\nkind = \"file\"\npath = \"manifests\"\n[node]\nmax_pods = 50\npod_pids_limit = 64\n"), Name: "the base", Dir: "/var/lib/kubelet", Locate: located}
	var named []string
	over := func(path string) (*Config, error) {
		return LoadOver(func(kubeconfig string) (*Base, error) {
			named = append(named, kubeconfig)
			return base, nil
		}, path)
	}
	c, err := over("")
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Sources) != 1 || c.Sources[0].Path != "/var/lib/kubelet/manifests" || c.Node.MaxPods != 50 {
		t.Errorf("the base alone: %+v, %+v", c.Sources, c.Node)
	}
	path := write(t, "[[source]]\nname = \"own\"\nkind = \"file\"\npath = \"own\"\n[node]\nmax_pods = 60\n")
	if c, err = over(path); err != nil {
		t.Fatal(err)
	}
	if len(c.Sources) != 2 || c.Sources[0].Path != filepath.Join(filepath.Dir(path), "own") || c.Sources[1].Path != "/var/lib/kubelet/manifests" || c.Sources[1].Period == 0 {
		t.Errorf("sources %+v", c.Sources)
	}
	if c.Node.MaxPods != 60 || c.Node.PodPIDsLimit != 64 {
		t.Errorf("node %+v", c.Node)
	}
	base.Text = []byte("[node]\nmax_pods = 0\n")
	if _, err := over(path); err == nil || !strings.Contains(err.Error(), "node.max_pods") {
		t.Errorf("a bad base: %v", err)
	}
	base.Text = nil
	if _, err := over(write(t, "[node]\nmax_pods = 0\n")); err == nil || !strings.Contains(err.Error(), "agent.toml:2: node.max_pods") {
		t.Errorf("a bad file: %v", err)
	}
	if _, err := over(""); err == nil || !strings.Contains(err.Error(), "the base: no source of pods") {
		t.Errorf("an empty base: %v", err)
	}
	if diff := cmp.Diff([]string{"", "", "", "", ""}, named); diff != "" {
		t.Errorf("kubeconfigs (-want +got):\n%s", diff)
	}
}

// The base knows the kubeconfig of the file before it is made, and the file is read once.
func TestLoadOver_kubeconfig(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "agent.toml")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(path, []byte("[cluster]\nkubeconfig = \"kubeconfig\"\n"), 0o600) }()
	var named string
	c, err := LoadOver(func(kubeconfig string) (*Base, error) {
		named = kubeconfig
		text := fmt.Sprintf("[cluster]\nkubeconfig = %q\ndns = [\"10.96.0.10\"]\n", kubeconfig)
		return &Base{Text: []byte(text), Dir: "/var/lib/kubelet", Locate: func(faults strict.Errors) strict.Errors { return faults }}, nil
	}, path)
	if err := errors.Join(err, <-written); err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(filepath.Dir(path), "kubeconfig"); named != want || c.Cluster.Kubeconfig != want || len(c.Cluster.DNS) != 1 {
		t.Errorf("named %s, cluster %+v", named, c.Cluster)
	}
}

func TestLoadOver_noBase(t *testing.T) {
	t.Parallel()
	fails := errors.New("no base")
	for name, test := range map[string]struct{ path, want string }{
		"no base":     {"", "no base"},
		"a bad file":  {write(t, "[cluster]\nkubeconfg = 1\n"), "agent.toml:2: cluster.kubeconfg: unknown key"},
		"no file":     {filepath.Join(t.TempDir(), "none"), "name another file with --config"},
		"a good file": {write(t, "[node]\n"), "no base"},
	} {
		if _, err := LoadOver(func(string) (*Base, error) { return nil, fails }, test.path); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
