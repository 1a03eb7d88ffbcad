package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMigrate(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
	for name, text := range map[string]string{
		"migrate":         head + "staticPodPath: /etc/kubernetes/manifests\nmaxPods: 50\nhealthzPort: 0\nfeatureGates: {Fancy: true}\nclusterDNS: [10.96.0.10]\n",
		"migrate-refused": head + "maxPod: 50\ncpuManagerPolicy: static\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "config.yaml")
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			golden(t, name, wardlet(t.Context(), "migrate", "--kubelet-config", path, "--kubeconfig", "/etc/kubernetes/kubelet.conf"), dir, "DIR")
			to := filepath.Join(dir, "agent.toml")
			got := wardlet(t.Context(), "migrate", "--kubelet-config", path, "-o", to)
			if _, err := os.Stat(to); (err == nil) != strings.Contains(got, "exit status 0") {
				t.Errorf("%s, and the file: %v", got, err)
			}
		})
	}
	golden(t, "help-migrate", wardlet(t.Context(), "migrate", "--help"))
	golden(t, "usage-migrate", wardlet(t.Context(), "migrate"))
}
