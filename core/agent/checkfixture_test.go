package agent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/test/fakecri"
)

func TestMain(m *testing.M) {
	if status, isChild := Child(); isChild {
		os.Exit(status)
	}
	goleak.VerifyTestMain(m)
}

// site is a configuration whose paths lie in a directory of the test's own.
type site struct {
	dir string
	cfg *config.Config
}

func newSite(t *testing.T) *site {
	t.Helper()
	dir, err := os.MkdirTemp("", "wardlet") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	n := &site{dir: dir, cfg: config.Default()}
	n.cfg.NodeName = "edge"
	n.cfg.Paths.StateRoot, n.cfg.Paths.PodRoot = n.path("state"), n.path("root")
	n.cfg.Paths.Socket = n.path("run/w.sock")
	n.cfg.Paths.CgroupRoot = "/" + filepath.Base(dir)
	n.cfg.Runtime.Endpoint = "unix://" + n.path("cri.sock")
	return n
}

func (n *site) path(name string) string { return filepath.Join(n.dir, name) }

// source adds a source whose directory holds files, by name and text.
func (n *site) source(t *testing.T, name string, files map[string]string) *config.Source {
	t.Helper()
	n.cfg.Sources = append(n.cfg.Sources, config.Source{
		Name: name, Kind: config.KindFile, Path: n.path(name), Period: config.DefaultPeriod, MissingPath: config.MissingError,
	})
	s := &n.cfg.Sources[len(n.cfg.Sources)-1]
	for file, text := range files {
		n.write(t, filepath.Join(name, file), text)
	}
	return s
}

func (n *site) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(n.path(name)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(n.path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// expect compares findings, written as "level subject: message", with the
// node's directory as DIR.
func (n *site) expect(t *testing.T, got []Finding, want ...string) {
	t.Helper()
	lines := make([]string, len(got))
	for i, f := range got {
		lines[i] = strings.ReplaceAll(string(f.Level)+" "+f.Subject+": "+f.Message, n.dir, "DIR")
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// hide puts words for the place of a runtime.
func hide(findings []Finding, endpoint string) {
	words := strings.NewReplacer(endpoint, "ENDPOINT", strings.TrimPrefix(endpoint, "unix://"), "SOCKET")
	for i := range findings {
		findings[i].Subject, findings[i].Message = words.Replace(findings[i].Subject), words.Replace(findings[i].Message)
	}
}

// contents are the names, modes and texts of all files of the site.
func (n *site) contents(t *testing.T) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(n.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		line := path + " " + info.Mode().String()
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += " " + string(text)
		}
		all = append(all, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

// sandbox makes a pod on a runtime, as somebody else would.
func sandbox(t *testing.T, cri *fakecri.Server, name string, labels, annotations map[string]string) {
	t.Helper()
	conn, err := grpc.NewClient(cri.Endpoint(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, err = runtimeapi.NewRuntimeServiceClient(conn).RunPodSandbox(t.Context(), &runtimeapi.RunPodSandboxRequest{
		Config: &runtimeapi.PodSandboxConfig{
			Metadata: &runtimeapi.PodSandboxMetadata{Name: name, Uid: name}, Labels: labels, Annotations: annotations,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// kubeletLabels are what a kubelet marks its pods with.
func kubeletLabels(uid string) map[string]string { return map[string]string{pod.LabelPodUID: uid} }

const goodPod = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c, image: box}]}\n"
