//go:build vm

package vm

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
)

const (
	// offline is the number of pods of TestKubeadm_rebootWithoutTheCluster, and always the number of
	// those whose image is pulled each time.
	offline, always = 30, 10
	// pulled is an image that the mirror has.
	pulled = "registry.k8s.io/e2e-test-images/busybox:1.36.1-1"
)

// clusterPod returns a pod of the cluster, which ends if it lacks its token or its ConfigMap.
func clusterPod(n int) string {
	name := fmt.Sprint("p", n)
	text := strings.Replace(podManifest(name, "sleep", `env: [{name: ONE, valueFrom: {configMapKeyRef: {name: settings, key: one}}}]`,
		"volumeMounts: [{name: settings, mountPath: /settings}]"), "spec:\n", "spec:\n  nodeName: vm\n  volumes: [{name: settings, configMap: {name: settings}}]\n", 1)
	if n >= always {
		return text
	}
	return strings.NewReplacer("registry.wardlet.test/test:1", pulled, "Never", "Always", "args: [sleep]",
		`command: [sh, -c, "test -s /var/run/secrets/kubernetes.io/serviceaccount/token && test -s /settings/one && exec sleep 36000"]`).Replace(text)
}

// TestKubeadm_rebootWithoutTheCluster: the machine restarts while its network is away. Pods with a
// token and a ConfigMap run again without the API server and the registry, in at most one and a half
// times what the same calls to the runtime take there without an agent.
func TestKubeadm_rebootWithoutTheCluster(t *testing.T) {
	s := newSite(t)
	m := &machine{dir: t.TempDir(), tap: s.env["TAP"]}
	m.install(t)
	floor := m.direct(t, offline)
	t.Logf("the calls alone take %s", floor)
	s.replaceKubelet(t, m)
	m.mirror(t, s.dir)
	m.run(t, "systemctl restart containerd")
	s.join(t, m)
	objects := []string{"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {one: \"1\"}\n"}
	for n := range offline {
		objects = append(objects, clusterPod(n))
	}
	manifest := filepath.Join(s.dir, "pods.yaml")
	if err := os.WriteFile(manifest, []byte(strings.Join(objects, "---\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	s.kubectl(t, "apply", "-f", manifest)
	all := func(restarts int32) func(pods map[string]*v1.Pod) error {
		return func(pods map[string]*v1.Pod) error {
			var failed []error
			for n := range offline {
				p := pods[fmt.Sprint("p", n)]
				failed = append(failed, ready(p))
				if p != nil && len(p.Status.ContainerStatuses) > 0 && p.Status.ContainerStatuses[0].RestartCount != restarts {
					failed = append(failed, fmt.Errorf("pod %s has started %d times again", p.Name, p.Status.ContainerStatuses[0].RestartCount))
				}
			}
			return errors.Join(failed...)
		}
	}
	before := s.pods(t, "all pods run", all(0))
	// A device that is down would keep the kernel of the machine busy.
	network := func(state ...string) {
		t.Helper()
		if output, err := exec.CommandContext(t.Context(), "ip", append([]string{"link", "set", m.tap}, state...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, output)
		}
	}
	network("nomaster")
	m.reboot(t)
	m.compareStarts(t, "kubelet", m.wait(t, "pods after the reboot", all(1)), floor)
	network("master", strings.TrimSpace(read(t, filepath.Join(s.dir, "bridge"))))
	after := s.pods(t, "the cluster has their state", all(1))
	for name, p := range before {
		if after[name] == nil || after[name].UID != p.UID {
			t.Errorf("pod %s is another one", name)
		}
	}
}
