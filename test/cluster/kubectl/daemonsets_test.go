//go:build e2e

package kubectl

import (
	stdcmp "cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/test/cluster/daemonsets"
)

var manifests = flag.String("manifests", "../testdata", "the directory of the manifests of DaemonSets; a copy of others may stand in for it")

// TestDaemonsets_becomeReady: widely used DaemonSets and Deployments become ready although the
// agent is killed while their pods start, and each container has what its pod and the objects at
// the API server define.
func TestDaemonsets_becomeReady(t *testing.T) {
	sets, err := daemonsets.Read(*manifests)
	if err != nil {
		t.Fatal(err)
	}
	images := filepath.Join(filepath.Dir(cluster.Program("ctr")), "..", "images", "test.tar")
	if _, err := cluster.Ctr(t.Context(), "images", "import", "--local", "--snapshotter", stdcmp.Or(os.Getenv("SNAPSHOTTER"), "overlayfs"), images); err != nil {
		t.Fatal(err)
	}
	host := sharedDirectory(t)
	for _, set := range sets {
		if err := set.Rewrite(host); err != nil {
			t.Fatal(err)
		}
		for key, value := range set.NodeLabels() {
			labelNode(t, key, value)
		}
	}
	applySets(t, sets)
	if err := cluster.RestartNode(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, set := range sets {
		t.Run(set.Name, func(t *testing.T) {
			for _, w := range set.Workloads {
				checkWorkload(t, set, w)
			}
		})
	}
}

// sharedDirectory returns a directory that stands for the machine's root. It is a mount of its
// own with shared propagation, like the root of a node.
func sharedDirectory(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(cluster.Dir, "host")
	if err := daemonsets.MakeShared(dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// This also unmounts what containers mounted below it.
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// labelNode adds a label to the node, and removes it when the test ends.
func labelNode(t *testing.T, key, value string) {
	t.Helper()
	node := cluster.Env["NODE_NAME"]
	if _, err := cluster.Kubectl(t.Context(), "label", "node", node, key+"="+value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := cluster.Kubectl(context.Background(), "label", "node", node, key+"-"); err != nil {
			t.Error(err)
		}
	})
}

// applySets creates the objects of sets, and deletes them when the test ends.
func applySets(t *testing.T, sets []*daemonsets.Set) {
	t.Helper()
	list, err := daemonsets.List(sets)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		if t.Failed() {
			for _, set := range sets {
				explain(ctx, t, set)
			}
		}
		if _, err := cluster.Apply(ctx, list, "delete", "-f", "-", "--timeout=60s", "--ignore-not-found"); err != nil {
			t.Error(err)
		}
		for _, set := range sets {
			for _, w := range set.Workloads {
				_, err := cluster.Kubectl(ctx, "wait", "--for=delete", "pod", "-n", w.Namespace(), "-l", w.Selector(), "--timeout=60s")
				if err != nil {
					t.Error(err)
				}
			}
		}
	})
	if _, err := cluster.Apply(t.Context(), list, "apply", "-f", "-"); err != nil {
		t.Fatal(err)
	}
}

// explain logs the descriptions and the logs of the pods of a set.
func explain(ctx context.Context, t *testing.T, set *daemonsets.Set) {
	t.Helper()
	for _, w := range set.Workloads {
		out, _ := cluster.Kubectl(ctx, "describe", "pods", "-n", w.Namespace(), "-l", w.Selector())
		logs, _ := cluster.Kubectl(ctx, "logs", "-n", w.Namespace(), "-l", w.Selector(), "--all-containers", "--prefix", "--ignore-errors")
		t.Logf("pods of %s:\n%s\nlogs:\n%s", w, out, logs)
	}
}

// checkWorkload waits until a workload is ready, and checks its pods.
func checkWorkload(t *testing.T, set *daemonsets.Set, w *daemonsets.Workload) {
	t.Helper()
	namespace := w.Namespace()
	// A runtime whose caller is killed during a start may need two minutes to let go of the container.
	if _, err := cluster.Kubectl(t.Context(), "rollout", "status", w.String(), "-n", namespace, "--timeout=200s"); err != nil {
		t.Fatal(err)
	}
	var pods v1.PodList
	var maps v1.ConfigMapList
	var secrets v1.SecretList
	read(t, &pods, "pods", "-n", namespace, "-l", w.Selector())
	read(t, &maps, "configmaps", "-n", namespace)
	read(t, &secrets, "secrets", "-n", namespace)
	objects := daemonsets.Objects{ConfigMaps: map[string]v1.ConfigMap{}, Secrets: map[string]v1.Secret{}}
	for _, o := range maps.Items {
		objects.ConfigMaps[o.Name] = o
	}
	for _, o := range secrets.Items {
		objects.Secrets[o.Name] = o
	}
	if len(pods.Items) != w.Replicas() {
		t.Errorf("%s has %d pods, want %d", w, len(pods.Items), w.Replicas())
	}
	for _, p := range pods.Items {
		if !podReady(&p) {
			t.Errorf("pod %s is not ready: %+v", p.Name, p.Status)
		}
		err := set.Check(&p, &objects, func(container string) (string, error) {
			return cluster.Kubectl(t.Context(), "logs", p.Name, "-n", namespace, "-c", container)
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func podReady(p *v1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == v1.PodReady {
			return c.Status == v1.ConditionTrue
		}
	}
	return false
}

// published are the origins of manifests: a file of the module k8s.io/kubernetes, the output of
// kubeadm, or the SHA-256 of a file from another module; empty for our own manifests.
var published = map[string]string{
	"calico/calico.yaml":                        "sha256:bb447e3f5353bcaae8ac145b778cf8a3052f10c5c56db211443528244b18aaf6",
	"coredns/coredns.yaml":                      "kubeadm",
	"flannel/kube-flannel.yaml":                 "sha256:944a3c1f925f117727a1b7272a323c80965da642498397ec7e6ea9bef0f9e6c5",
	"konnectivity/konnectivity-agent-ds.yaml":   "cluster/gce/addons/konnectivity-agent/konnectivity-agent-ds.yaml",
	"konnectivity/konnectivity-agent-rbac.yaml": "cluster/gce/addons/konnectivity-agent/konnectivity-agent-rbac.yaml",
	"konnectivity/konnectivity-rbac.yaml":       "cluster/gce/addons/konnectivity-agent/konnectivity-rbac.yaml",
	"kube-proxy/kube-proxy.yaml":                "kubeadm",
	"node-exporter/node-exporter.yaml":          "sha256:9235f083c18e71cf3c56fdcf3ea81235393be742d3a0e014a98e82fb1d2ad29f",
	"node-local-dns/nodelocaldns.yaml":          "cluster/addons/dns/nodelocaldns/nodelocaldns.yaml",
	"node-problem-detector/npd.yaml":            "cluster/addons/node-problem-detector/npd.yaml",
	"restricted/restricted.yaml":                "",
}

// TestDaemonsets_areAsPublished: every manifest that is not our own is byte for byte the one of the
// tests' Kubernetes version, or the one of its origin.
func TestDaemonsets_areAsPublished(t *testing.T) {
	module := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes")
	module.Dir, module.Env = "../../conformance/kubernetes", append(os.Environ(), "GOFLAGS=")
	out, err := module.Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../testdata/*/*.yaml")
	if err != nil || len(files) != len(published) {
		t.Errorf("there are %d manifests, want %d; %v", len(files), len(published), err)
	}
	for file, from := range published {
		kept, err := os.ReadFile(filepath.Join("../testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		if digest, ok := strings.CutPrefix(from, "sha256:"); ok {
			if sum := sha256.Sum256(kept); digest != hex.EncodeToString(sum[:]) {
				t.Errorf("%s has the digest %x, want %s: copy it again", file, sum, digest)
			}
			continue
		}
		var original []byte
		switch from {
		case "":
			continue
		case "kubeadm":
			original, err = kubeadmPrints(t, strings.TrimSuffix(filepath.Base(file), ".yaml"))
		default:
			original, err = os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), from))
		}
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(original), string(kept)); diff != "" {
			t.Errorf("%s (-published +kept); copy it again:\n%s", file, diff)
		}
	}
}

// kubeadmPrints returns the manifest of an addon.
func kubeadmPrints(t *testing.T, addon string) ([]byte, error) {
	t.Helper()
	version, err := exec.CommandContext(t.Context(), cluster.Program("kubeadm"), "version", "-o", "short").Output()
	if err != nil {
		return nil, err
	}
	args := []string{"init", "phase", "addon", addon, "--print-manifest", "--kubernetes-version", strings.TrimSpace(string(version))}
	if addon == "kube-proxy" {
		args = append(args, "--apiserver-advertise-address", "10.0.0.1")
	}
	return exec.CommandContext(t.Context(), cluster.Program("kubeadm"), args...).Output()
}

// read decodes the output of kubectl get.
func read(t *testing.T, into any, args ...string) {
	t.Helper()
	out, err := cluster.Kubectl(t.Context(), append([]string{"get", "-o", "json"}, args...)...)
	if err == nil {
		err = json.Unmarshal([]byte(out), into)
	}
	if err != nil {
		t.Fatal(fmt.Errorf("get %v: %w", args, err))
	}
}
