package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/config"
)

func TestMigrate(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
	for name, text := range map[string]string{
		"migrate":         head + "staticPodPath: /etc/kubernetes/manifests\nmaxPods: 50\nhealthzPort: 0\nfeatureGates: {Fancy: true}\nclusterDNS: [10.96.0.10]\n",
		"migrate-refused": head + "maxPod: 50\ncpuManagerPolicy: static\n",
		// agent.toml's own rules refuse these values.
		"migrate-unusable": head + "staticPodPath: /etc/kubernetes/manifests\ncontainerRuntimeEndpoint: /run/containerd/containerd.sock\ncontainerLogMaxFiles: 1\nhealthzPort: 0\n",
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
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(head+"healthzPort: 0\nauthentication: {x509: {clientCAFile: /ca.crt}}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(path)
	golden(t, "migrate-no-kubeconfig", wardlet(t.Context(), "migrate", "--kubelet-config", path), dir, "DIR")
	golden(t, "migrate-no-source", wardlet(t.Context(), "migrate", "--kubelet-flags", "--enable-server=false --healthz-port=0"), dir, "DIR")
	golden(t, "help-migrate", wardlet(t.Context(), "migrate", "--help"))
	golden(t, "usage-migrate", wardlet(t.Context(), "migrate"))
}

// A kubeconfig that only agent.toml names makes the kubelet's configuration that of a node of a
// cluster.
func TestKubeletFlags_load(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	const text = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nclusterDNS: [10.96.0.10]\nclusterDomain: edge.example\n" +
		"rotateCertificates: true\nhealthzPort: 0\nauthentication: {x509: {clientCAFile: ca.crt}}\nstaticPodPath: manifests\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		flags, toml string
		// fault is a part of the error, empty for none.
		fault string
	}{
		"a kubeconfig":              {"", "[cluster]\nkubeconfig = \"kubelet.conf\"\n", ""},
		"instead of that of a flag": {"--kubeconfig=/k", "[cluster]\nkubeconfig = \"kubelet.conf\"\n", ""},
		"no kubeconfig":             {"", "log_level = \"debug\"\n", "config.yaml:7: authentication.x509.clientCAFile: the mode of authorization is \"Webhook\""},
		"none, in spite of a flag":  {"--kubeconfig=/k", "[cluster]\nkubeconfig = \"\"\ndns = []\ndomain = \"cluster.local\"\nnode_ip = \"\"\nrotate_certificates = false\n", "agent.toml: cluster.kubeconfig is empty"},
		"a bad file":                {"", "[cluster]\nkubeconfg = \"kubelet.conf\"\n", "agent.toml:2: cluster.kubeconfg: unknown key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			more := filepath.Join(t.TempDir(), "agent.toml")
			if err := os.WriteFile(more, []byte(test.toml), 0o600); err != nil {
				t.Fatal(err)
			}
			a := &app{&cli.App{ConfigPath: more}}
			kubelet := &kubeletFlags{config: path, flags: "--node-ip=10.0.0.7 " + test.flags}
			c, warnings, err := kubelet.load(t.Context(), a, &cobra.Command{})
			if test.fault != "" {
				if err == nil || !strings.Contains(err.Error(), test.fault) {
					t.Errorf("error %v, want %s", err, test.fault)
				}
				return
			}
			if err != nil || len(warnings) > 0 {
				t.Fatalf("error %v, warnings %v", err, warnings)
			}
			want := config.Cluster{Kubeconfig: filepath.Join(filepath.Dir(more), "kubelet.conf"), DNS: []string{"10.96.0.10"}, Domain: "edge.example", RotateCertificates: true, NodeIP: "10.0.0.7"}
			if diff := cmp.Diff(want, c.Cluster); diff != "" || c.NodeAPI.Listen != "0.0.0.0:10250" || c.NodeAPI.ClientCAFile != filepath.Join(dir, "ca.crt") {
				t.Errorf("cluster (-want +got):\n%s\nnode API %+v", diff, c.NodeAPI)
			}
		})
	}
}
