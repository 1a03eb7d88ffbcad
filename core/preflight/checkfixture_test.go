package preflight

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

	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/test/fakecri"
	"github.com/wardlet/wardlet/test/site"
)

// located is a site whose findings are compared.
type located struct{ *site.Site }

func newSite(t *testing.T) *located {
	t.Helper()
	return &located{site.New(t)}
}

func TestMain(m *testing.M) {
	if status, isChild := parts.Child(); isChild {
		os.Exit(status)
	}
	goleak.VerifyTestMain(m)
}

// expect compares findings, written as "level subject: message". The node's directory is replaced
// by DIR.
func (n *located) expect(t *testing.T, got []Finding, want ...string) {
	t.Helper()
	lines := make([]string, len(got))
	for i, f := range got {
		lines[i] = strings.ReplaceAll(string(f.Level)+" "+f.Subject+": "+f.Message, n.Dir, "DIR")
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// hide replaces the address of a runtime by words.
func hide(findings []Finding, endpoint string) {
	words := strings.NewReplacer(endpoint, "ENDPOINT", strings.TrimPrefix(endpoint, "unix://"), "SOCKET")
	for i := range findings {
		findings[i].Subject, findings[i].Message = words.Replace(findings[i].Subject), words.Replace(findings[i].Message)
	}
}

// contents returns the names, modes and texts of all files of the site.
func (n *located) contents(t *testing.T) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(n.Dir, func(path string, d os.DirEntry, err error) error {
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

// sandbox creates a pod on a runtime, without the agent.
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

// kubeletLabels returns the labels with which a kubelet marks its pods.
func kubeletLabels(uid string) map[string]string { return map[string]string{pod.LabelPodUID: uid} }
