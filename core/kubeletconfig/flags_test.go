package kubeletconfig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/strict"
)

// kubeadm writes these flags, and its unit file and administrators add others.
const kubeadmFlags = "--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf --config=FILE" +
	" --container-runtime-endpoint=unix:///run/containerd/containerd.sock --pod-infra-container-image=registry.k8s.io/pause:3.10 --hostname-override=edge-1" +
	" --register-with-taints=dedicated=edge:NoSchedule,spot=:NoExecute --v=2 --node-labels a=b,c=d --node_ip=10.0.0.7 --rotate-certificates" +
	" --eviction-hard=memory.available<200Mi,nodefs.available<5% --system-reserved cpu=100m,memory=200Mi --cluster-dns=10.96.0.10,10.96.0.11 --fail-swap-on=false"

func read(t *testing.T, flags, file string) (*Configuration, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte("apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"+file), 0o600); err != nil {
		t.Fatal(err)
	}
	command, err := ParseCommand(strings.Fields(strings.ReplaceAll(flags, "FILE", path)))
	if err != nil {
		return nil, err
	}
	return Read(command)
}

func TestParseCommand_kubeadm(t *testing.T) {
	t.Parallel()
	c, err := read(t, kubeadmFlags, "clusterDNS: [10.0.0.1]\nevictionHard: {imagefs.available: 7%}\nmaxPods: 50\n")
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.TOML()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`node_name = "edge-1"`, `kubeconfig = "/etc/kubernetes/kubelet.conf"`, `bootstrap_kubeconfig = "/etc/kubernetes/bootstrap-kubelet.conf"`,
		`node_ip = "10.0.0.7"`, `rotate_certificates = true`, `dns = ["10.96.0.10", "10.96.0.11"]`, `endpoint = "unix:///run/containerd/containerd.sock"`,
		`taints = ["dedicated=edge:NoSchedule", "spot:NoExecute"]`, `labels = ["a=b", "c=d"]`, `max_pods = 50`,
		`"memory.available" = "200Mi"`, `"nodefs.available" = "5%"`, `"imagefs.available" = "0%"`, `system_reserved = ["cpu=100m", "memory=200Mi"]`,
		`cert_dir = "/var/lib/kubelet/pki"`, `pod_root = "/var/lib/kubelet"`,
	} {
		if !strings.Contains(string(text), want+"\n") {
			t.Errorf("no line %s in\n%s", want, text)
		}
	}
	if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0].Error(), "not served over HTTPS") {
		t.Errorf("warnings %v", c.Warnings)
	}
}

// These are spellings that a kubelet accepts.
func TestParseCommand_accepted(t *testing.T) {
	t.Parallel()
	for _, flags := range []string{
		"-v=2", "-v 2", "-v2", "--v 2", "--v=2", "--runtime-cgroups /x", "--pod-infra-container-image registry.example/pause:3", "--log-json-split-stream",
		"--log-json-split-stream=false --storage-driver-user cadvisor", "--fail-swap-on --rotate-certificates=true", "--max_pods 50",
	} {
		if c, err := ParseCommand(strings.Fields(flags)); err != nil || c.Version || c.Help {
			t.Errorf("%s: %+v, %v", flags, c, err)
		}
	}
	for flags, want := range map[string]Command{"--version": {Version: true}, "--version=raw": {Version: true}, "--version=false": {}, "--version=0": {}, "--help": {Help: true}, "-h": {Help: true}} {
		if c, err := ParseCommand(strings.Fields(flags)); err != nil || c.Version != want.Version || c.Help != want.Help {
			t.Errorf("%s: %+v, %v", flags, c, err)
		}
	}
}

func TestParseCommand_refused(t *testing.T) {
	t.Parallel()
	for flags, want := range map[string]string{
		"--version=v1.36.3":                            `the kubelet's flags: --version: want true, false or raw, found "v1.36.3"`,
		"--nonsense":                                   "the kubelet's flags: unknown flag: --nonsense",
		"nonsense":                                     `the kubelet's flags: "nonsense" is no flag`,
		"--cloud-provider=external":                    "the kubelet's flags: --cloud-provider: the agent works with no cloud provider; leave the flag out",
		"--max-pods=many":                              `the kubelet's flags: --max-pods: maxPods: want a number, found "many"`,
		"--cpu-manager-policy=static":                  `the kubelet's flags: --cpu-manager-policy: cpuManagerPolicy: is "static": containers cannot have CPUs of their own`,
		"--eviction-hard=memory.available":             `the kubelet's flags: --eviction-hard: want NAME<VALUE, found "memory.available"`,
		"--register-with-taints=dedicated":             `the kubelet's flags: --register-with-taints: want KEY=VALUE:EFFECT, found "dedicated"`,
		"--config=/nonexistent/config.yaml":            "cannot read the kubelet's configuration: open /nonexistent/config.yaml: no such file or directory",
		"--config-dir=/nonexistent/drop-ins":           "cannot read the drop-in directory of the kubelet's configuration: lstat /nonexistent/drop-ins: no such file or directory",
		"--protect-kernel-defaults=maybe --port=often": "", // the first is a warning
	} {
		if _, err := read(t, flags, ""); want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%s: error\n%v, want\n%s", flags, err, want)
		}
	}
}

// A fault that only agent.toml's own checks find is shown where it is written.
func TestConfiguration_Locate(t *testing.T) {
	t.Parallel()
	c, err := read(t, "--config=FILE --cluster-domain=-", "evictionHard: {memory.available: 120%}\n")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, key := range []string{"eviction.hard.memory.available", "cluster.domain", "policy.dir", "source[0].path"} {
		for _, e := range c.Locate(strict.Errors{{File: "", Line: 3, Key: key, Message: "bad"}}) {
			text.WriteString(strings.ReplaceAll(e.Error(), filepath.Dir(e.File)+"/", "") + "\n")
		}
	}
	if want := "config.yaml:3: evictionHard.memory.available: bad\nthe kubelet's flags: --cluster-domain: clusterDomain: bad\n"; text.String() != want {
		t.Errorf("located:\n%s", text.String())
	}
}

func FuzzParseCommand(f *testing.F) {
	f.Add(kubeadmFlags)
	f.Add("--eviction-hard=<,=< --version --feature-gates=A=true")
	f.Fuzz(func(_ *testing.T, text string) {
		command, err := ParseCommand(strings.Fields(text))
		if err == nil {
			command.Config, command.ConfigDir = "", ""
			_, _ = Read(command)
		}
	})
}
