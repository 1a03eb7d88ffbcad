package podsecurity

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"
	corev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	"sigs.k8s.io/yaml"
)

// The numbers of pods that upstream has for its own tests in this version of the module.
const (
	passing = 975
	failing = 3266
	minors  = 36
	levels  = 2
)

// fixture is one of these pods.
type fixture struct {
	// file is the path below the directory of all fixtures.
	file, level, version string
	pass                 bool
	text                 []byte
	pod                  *v1.Pod
}

// fixtures returns all fixtures; it reads them once.
var fixtures = sync.OnceValues(func() ([]fixture, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/pod-security-admission").Output()
	if err != nil {
		return nil, err
	}
	root := filepath.Join(strings.TrimSpace(string(out)), "test", "testdata")
	var all []fixture
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "README.md" {
			return err
		}
		file, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		parts := strings.Split(filepath.ToSlash(file), "/")
		f := fixture{file: file, level: parts[0], version: parts[1], pass: parts[2] == "pass", pod: &v1.Pod{}}
		if f.text, err = os.ReadFile(path); err == nil {
			err = yaml.UnmarshalStrict(f.text, f.pod)
		}
		all = append(all, f)
		return err
	})
	return all, err
})

func all(t *testing.T) []fixture {
	t.Helper()
	got, err := fixtures()
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestNoFixtureIsMissed(t *testing.T) {
	counts := map[bool]int{}
	dirs := map[string]bool{}
	for _, f := range all(t) {
		counts[f.pass]++
		dirs[f.level+"/"+f.version] = true
	}
	if counts[true] != passing || counts[false] != failing || len(dirs) != minors*levels {
		t.Errorf("%d pods pass and %d fail, of %d versions of the levels; want %d, %d and %d",
			counts[true], counts[false], len(dirs), passing, failing, minors*levels)
	}
}

// served returns a fixture's pod as an API server passes it to Pod Security Admission.
func served(f *fixture) *v1.Pod {
	p := f.pod.DeepCopy()
	corev1.SetObjectDefaults_Pod(p)
	return p
}

func TestThePluginDecidesEveryFixtureAsUpstreamDoes(t *testing.T) {
	same := 0
	for _, f := range all(t) {
		violated, err := agree(t, served(&f), f.level, f.version)
		switch {
		case err != nil:
			t.Errorf("%s: %v", f.file, err)
		case f.pass != (violated == ""):
			t.Errorf("%s: violated is %q", f.file, violated)
		default:
			same++
		}
	}
	t.Logf("%d of %d fixtures have the same verdict and violated checks", same, passing+failing)
	if same != passing+failing {
		t.Errorf("%d fixtures, want %d", same, passing+failing)
	}
}

// TestThePluginDecidesEveryFixtureAsUpstreamDoesWithoutDefaults uses the pods as they are in the
// files. Without defaults, the volumes of one fixture lack the type that an API server sets, in
// each version.
func TestThePluginDecidesEveryFixtureAsUpstreamDoesWithoutDefaults(t *testing.T) {
	same, undefaulted := 0, 0
	for _, f := range all(t) {
		violated, err := agree(t, f.pod, f.level, f.version)
		switch {
		case err != nil:
			t.Errorf("%s: %v", f.file, err)
		case f.pass == (violated == ""):
			same++
		case f.level == "restricted" && filepath.Base(f.file) == "restrictedvolumes0.yaml" && violated == "restrictedVolumes":
			undefaulted++
		default:
			t.Errorf("%s: violated is %q", f.file, violated)
		}
	}
	if same != passing+failing-minors || undefaulted != minors {
		t.Errorf("%d fixtures have their verdict, %d want defaults; want %d and %d", same, undefaulted, passing+failing-minors, minors)
	}
}

// TestThePluginDecidesEveryFixtureAsUpstreamDoesInOtherVersions evaluates pods by other versions
// and levels than the fixture's own, also by the newest version.
func TestThePluginDecidesEveryFixtureAsUpstreamDoesInOtherVersions(t *testing.T) {
	versions := []string{"v1.0", "v1.8", "v1.19", "v1.22", "v1.25", "v1.27", "v1.29", "v1.31", "v1.32", "v1.34", "v1.35", "v1.36", "latest"}
	same := 0
	for i, f := range all(t) {
		version := versions[i%len(versions)]
		for _, level := range []string{"baseline", "restricted", "privileged"} {
			violated, err := agree(t, f.pod, level, version)
			if err != nil || level == "privileged" && violated != "" {
				t.Errorf("%s as %s:%s: %q, %v", f.file, level, version, violated, err)
				continue
			}
			same++
		}
	}
	t.Logf("%d comparisons of fixtures in other versions and levels", same)
}
