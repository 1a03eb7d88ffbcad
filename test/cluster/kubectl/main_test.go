//go:build e2e

package kubectl

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/test/conformance/instance"
	"github.com/wardlet/wardlet/test/wasmtest"
)

var (
	kubelet = flag.Bool("kubelet", false, "the node is a real kubelet, which tools/setup.sh kubelet builds")
	loop    = flag.Duration("loop", 45*time.Second, "how long a controller makes pods that policy denies")
)

// cluster is the one instance for all tests: its node uses fixed ports and names.
var cluster *instance.Instance

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "kubectl")
	if err == nil {
		cluster, err = instance.Start(context.Background(), dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := cluster.Down(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	agent := instance.Wardlet
	if *kubelet {
		agent = instance.Kubelet
	} else if err := writePolicies(filepath.Join(dir, "policies")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	cluster.Extra = []string{
		"CONFIG_EXTRA=seccomp_default = true\n[policy]\ndir = \"" + filepath.Join(dir, "policies") + "\"", // it is appended after [runtime]
		"SECCOMP_DEFAULT=true",
	}
	if err := cluster.StartNode(context.Background(), agent); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// busybox is the image of the tests' containers.
const busybox = "registry.k8s.io/e2e-test-images/busybox:1.37.0-1"

// space is a namespace of the cluster for one test.
type space struct {
	*testing.T
	name string
}

// newSpace makes a namespace, and deletes it when the test ends. Its pods then terminate as after a
// person's deletion.
func newSpace(t *testing.T) *space {
	t.Helper()
	s := &space{t, strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))}
	if _, err := cluster.Kubectl(t.Context(), "create", "namespace", s.name); err != nil {
		t.Fatal(err)
	}
	s.eventually("the namespace has its service account", func() error {
		_, err := s.try("", "get", "serviceaccount", "default")
		return err
	})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		if t.Failed() {
			out, _ := cluster.Kubectl(ctx, "describe", "pods", "-n", s.name)
			log := cluster.Log()
			t.Logf("pods:\n%s\nthe end of the node's log:\n%s", out, log[max(0, len(log)-10_000):])
		}
		_, err := cluster.Kubectl(ctx, "delete", "namespace", s.name, "--timeout=60s")
		if err != nil {
			t.Error(err)
		}
		// What a pod leaves in the runtime is removed after the pod's object.
		for left := "?"; left != ""; time.Sleep(200 * time.Millisecond) {
			if ctx.Err() != nil {
				t.Errorf("the runtime has left of the namespace:\n%s", left)
				return
			}
			if left, err = cluster.Ctr(ctx, "containers", "list", "--quiet", `labels."io.kubernetes.pod.namespace"==`+s.name); err != nil {
				left = err.Error()
			}
		}
	})
	return s
}

// try runs kubectl in the namespace.
func (s *space) try(input string, args ...string) (string, error) {
	return cluster.Apply(s.Context(), input, append([]string{"-n", s.name}, args...)...)
}

// kubectl runs kubectl in the namespace, and fails the test on an error.
func (s *space) kubectl(args ...string) string {
	s.Helper()
	out, err := s.try("", args...)
	if err != nil {
		s.Fatal(err)
	}
	return out
}

// apply creates objects.
func (s *space) apply(manifest string) {
	s.Helper()
	if _, err := s.try(manifest, "apply", "-f", "-"); err != nil {
		s.Fatal(err)
	}
}

// kill kills the agent and starts it again.
func (s *space) kill() {
	s.Helper()
	if err := cluster.RestartNode(s.Context()); err != nil {
		s.Fatal(err)
	}
}

// eventually waits up to two minutes until a condition holds.
func (s *space) eventually(what string, condition func() error) {
	s.Helper()
	var err error
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if err = condition(); err == nil {
			return
		}
	}
	s.Fatalf("%s: not after two minutes: %v", what, err)
}

// writePolicies writes two policies. One denies pods with an image of forbidden.example. The other
// reads the objects that pods with the label references name.
func writePolicies(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return errors.Join(
		writePolicy(dir, "images", wasmtest.Answering(1, "ForbiddenImage", "images of forbidden.example are not allowed here"),
			"[match]\nconditions = [\"object.spec.containers.exists(c, c.image.startsWith('forbidden.example/'))\"]\n"),
		writePolicy(dir, "references", wasmtest.Declaring("request.references[*].digest"),
			"capabilities = [\"references.read\"]\n[match]\nlabel_selector = \"references\"\n"),
	)
}

func writePolicy(dir, name string, module []byte, rest string) error {
	document := fmt.Sprintf("api = \"wardlet.dev/v1\"\nname = %q\nmodule = %q\nsha256 = \"%x\"\nhooks = [\"admit\"]\n%s", name, name+".wasm", sha256.Sum256(module), rest)
	return errors.Join(
		os.WriteFile(filepath.Join(dir, name+".wasm"), module, 0o600),
		os.WriteFile(filepath.Join(dir, name+".toml"), []byte(document), 0o600),
	)
}
