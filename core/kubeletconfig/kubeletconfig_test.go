package kubeletconfig

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/config"
)

const head = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"

// write writes the files of a configuration into a directory: the first is the configuration, and the
// others are drop-in files.
func write(t *testing.T, texts ...string) (path, dropIns string) {
	t.Helper()
	dir := t.TempDir()
	path, dropIns = filepath.Join(dir, "config.yaml"), filepath.Join(dir, "config.d")
	if err := os.Mkdir(dropIns, 0o755); err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		to := path
		if i > 0 {
			to = filepath.Join(dropIns, string(rune('0'+i))+".conf")
		}
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return path, dropIns
}

// written is write, and returns the command line that names the files.
func written(t *testing.T, texts ...string) *Command {
	t.Helper()
	path, dropIns := write(t, texts...)
	return &Command{Config: path, ConfigDir: dropIns, Kubeconfig: "/etc/kubernetes/kubelet.conf", RootDir: "/var/lib/kubelet"}
}

// This is a configuration as kubeadm writes it, with a few more fields.
const usual = head + `address: 0.0.0.0
authentication:
  anonymous:
    enabled: false
  webhook:
    cacheTTL: 0s
    enabled: true
  x509:
    clientCAFile: /etc/kubernetes/pki/ca.crt
authorization:
  mode: Webhook
  webhook:
    cacheAuthorizedTTL: 0s
cgroupDriver: systemd
clusterDNS:
- 10.96.0.10
clusterDomain: cluster.local
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
cpuManagerReconcilePeriod: 0s
evictionHard:
  memory.available: 250Mi
evictionSoft:
  nodefs.available: 12%
evictionSoftGracePeriod:
  nodefs.available: 90s
evictionMaxPodGracePeriod: 30
evictionPressureTransitionPeriod: 0s
fileCheckFrequency: 15s
healthzBindAddress: 127.0.0.1
healthzPort: 10248
httpCheckFrequency: 0s
imageMinimumGCAge: 0s
kubeReserved: {cpu: 200m, memory: 1Gi}
logging:
  flushFrequency: 0
  options:
    json:
      infoBufferSize: "0"
memorySwap: {}
podPidsLimit: 1024
podLogsDir: /data/pods
registerWithTaints:
- {key: edge, value: "yes", effect: NoSchedule}
resolvConf: /run/systemd/resolve/resolv.conf
rotateCertificates: false
shutdownGracePeriodByPodPriority:
- {priority: -5, shutdownGracePeriodSeconds: 10}
staticPodPath: /etc/kubernetes/manifests
syncFrequency: 0s
tlsCertFile: /etc/kubernetes/kubelet.crt
tlsPrivateKeyFile: /etc/kubernetes/kubelet.key
volumeStatsAggPeriod: 0s
`

func TestRead_usual(t *testing.T) {
	t.Parallel()
	c, err := Read(written(t, usual))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Warnings) > 0 {
		t.Errorf("warnings:\n%v", c.Warnings)
	}
	text, err := c.TOML()
	if err != nil {
		t.Fatal(err)
	}
	const want = `[cluster]
dns = ["10.96.0.10"]
domain = "cluster.local"
kubeconfig = "/etc/kubernetes/kubelet.conf"
rotate_certificates = false

[eviction]
max_pod_grace_period = "30s"
[eviction.hard]
"imagefs.available" = "0%"
"imagefs.inodesFree" = "0%"
"memory.available" = "250Mi"
"nodefs.available" = "0%"
"nodefs.inodesFree" = "0%"
"pid.available" = "0%"
[eviction.soft]
"nodefs.available" = "12%"
[eviction.soft_grace_period]
"nodefs.available" = "90s"

[node]
kube_reserved = ["cpu=200m", "memory=1Gi"]
pod_pids_limit = 1024
shutdown_by_priority = ["-5=10s"]
static_pods_are_critical = true
taints = ["edge=yes:NoSchedule"]

[node_api]
cert_file = "/etc/kubernetes/kubelet.crt"
client_ca_file = "/etc/kubernetes/pki/ca.crt"
healthz_listen = "127.0.0.1:10248"
key_file = "/etc/kubernetes/kubelet.key"
listen = "0.0.0.0:10250"

[paths]
cgroup_root = "/kubepods"
log_root = "/data"
pod_root = "/var/lib/kubelet"

[runtime]
adopt_foreign = true
cgroup_driver_fallback = "systemd"
endpoint = "unix:///run/containerd/containerd.sock"
parallel_pulls = 1
resolv_conf = "/run/systemd/resolve/resolv.conf"

[[source]]
kind = "file"
missing_path = "empty"
name = "kubelet-static"
path = "/etc/kubernetes/manifests"
period = "15s"
`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("agent.toml (-want +got):\n%s", diff)
	}
	path := filepath.Join(t.TempDir(), "agent.toml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(path); err != nil {
		t.Error(err)
	}
}

// A drop-in file changes what it has; maps are merged, and lists replaced.
func TestRead_dropIns(t *testing.T) {
	t.Parallel()
	c, err := Read(written(t,
		head+"maxPods: 50\nclusterDNS: [10.0.0.1]\nevictionHard: {memory.available: 1Gi, pid.available: 10%}\nsyncFrequency: 10s\nserializeImagePulls: false\n",
		head+"maxPods: 60\nclusterDNS: [10.0.0.2, 10.0.0.3]\nevictionHard: {memory.available: 2Gi}\nmergeDefaultEvictionSettings: true\n",
		head+"maxPods: 70\nsyncFrequency: null\nmaxParallelImagePulls: 7\n",
	))
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.TOML()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"max_pods = 70", `dns = ["10.0.0.2", "10.0.0.3"]`, "parallel_pulls = 7", "[eviction.hard]\n\"memory.available\" = \"2Gi\"\n\"pid.available\" = \"10%\"\n\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "frequency") {
		t.Errorf("a field that a drop-in file removed is in\n%s", text)
	}
}

// A kubelet reads the directory with its subdirectories, in the order of paths.
func TestRead_dropInsOfSubdirectories(t *testing.T) {
	t.Parallel()
	command := written(t, head+"maxPods: 50\n", head+"maxPods: 60\n")
	below := filepath.Join(command.ConfigDir, "2-site")
	if err := errors.Join(os.Mkdir(below, 0o755), os.WriteFile(filepath.Join(below, "0.conf"), []byte(head+"maxPods: 70\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	c, err := Read(command)
	if err != nil || c.Table("node")["max_pods"] != int64(70) {
		t.Errorf("node %v, %v", c.Table("node"), err)
	}
}

// Relative paths of a file begin at its directory, those of flags at the working directory.
func TestRead_relativePaths(t *testing.T) {
	t.Parallel()
	command := written(t, head+"staticPodPath: manifests\nresolvConf: /etc/resolv.conf\nauthentication: {x509: {clientCAFile: ../ca.crt}}\ntlsCertFile: \"\"\n")
	command.CertDir = "pki"
	c, err := Read(command)
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.TOML()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(command.Config)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`path = "` + dir + `/manifests"`, `resolv_conf = "/etc/resolv.conf"`, `client_ca_file = "` + filepath.Dir(dir) + `/ca.crt"`, `cert_dir = "` + here + `/pki"`,
	} {
		if !strings.Contains(string(text), want+"\n") {
			t.Errorf("no line %s in\n%s", want, text)
		}
	}
}

func TestRead_whatTheAgentDoesNotHonour(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text     string
		faults   string // of which FILE:LINE: KEY are compared
		warnings string
	}{
		"unknown field":          {"maxPod: 7\n", "config.yaml:3: maxPod", ""},
		"unknown field in one":   {"authentication:\n  x509:\n    caFile: /ca\n", "config.yaml:5: authentication.x509.caFile", ""},
		"field twice":            {"maxPods: 7\nmaxPods: 8\n", "config.yaml:4: maxPods", ""},
		"wrong type":             {"maxPods: many\n", "config.yaml:3: maxPods", ""},
		"wrong duration":         {"\nsyncFrequency: 10\n", "config.yaml:4: syncFrequency", ""},
		"exclusive CPUs":         {"cpuManagerPolicy: static\n", "config.yaml:3: cpuManagerPolicy", ""},
		"no exec":                {"enableDebuggingHandlers: false\n", "config.yaml:3: enableDebuggingHandlers", ""},
		"TLS 1.3 only":           {"tlsMinVersion: VersionTLS13\n", "config.yaml:3: tlsMinVersion", ""},
		"headers":                {"staticPodURLHeader: {a: [b]}\n", "config.yaml:3: staticPodURLHeader", ""},
		"all faults at once":     {"runOnce: true\npodsPerCore: 7\n", "config.yaml:3: runOnce config.yaml:4: podsPerCore", ""},
		"another runtime's":      {"imageServiceEndpoint: unix:///run/images.sock\n", "config.yaml:3: imageServiceEndpoint", ""},
		"gates":                  {"featureGates:\n  Fancy: true\n", "", "config.yaml config.yaml:4: featureGates.Fancy"},
		"anonymous":              {"authentication: {anonymous: {enabled: true}}\n", "", "config.yaml config.yaml:3: authentication.anonymous.enabled"},
		"read-only for everyone": {"readOnlyPort: 10255\naddress: 0.0.0.0\n", "", "config.yaml config.yaml:3: readOnlyPort"},
		"reserved cgroup":        {"enforceNodeAllocatable: [pods, system-reserved]\n", "", "config.yaml config.yaml:3: enforceNodeAllocatable"},
		"defaults":               {"nodeStatusReportFrequency: 0s\nnodeStatusUpdateFrequency: 10000ms\nnodeLeaseDurationSeconds: 40\ntopologyManagerPolicy: none\nenableServer: false\n", "", ""},
		"alias":                  {"systemReserved: &all {cpu: 1}\nkubeReserved: *all\nenableServer: false\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := Read(written(t, head+test.text))
			if got := places(err); got != test.faults {
				t.Errorf("faults at %q, want %q: %v", got, test.faults, err)
			}
			if err == nil {
				if got := places(c.Warnings); got != test.warnings {
					t.Errorf("warnings at %q, want %q: %v", got, test.warnings, c.Warnings)
				}
			}
		})
	}
}

// places returns where the faults of an error are, without their messages.
func places(err error) string {
	if err == nil {
		return ""
	}
	var all []string
	for line := range strings.Lines(err.Error()) {
		parts := strings.SplitN(line, ": ", 3)
		at := filepath.Base(parts[0])
		if len(parts) == 3 && strings.Contains(at, ":") {
			at += ": " + parts[1]
		}
		all = append(all, at)
	}
	return strings.TrimSpace(strings.Join(all, " "))
}

func TestRead_badFiles(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty": "", "no YAML": "a: [", "a list": "- a\n", "another kind": "apiVersion: v1\nkind: Pod\n", "no kind": "maxPods: 7\n",
		"two documents": head + "---\n" + head, "another version": "apiVersion: kubelet.config.k8s.io/v1\nkind: KubeletConfiguration\n",
	} {
		if _, err := Read(written(t, text)); err == nil || !strings.Contains(err.Error(), "config.yaml") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Read(&Command{Config: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("no error for a file that does not exist")
	}
	path, _ := write(t, head)
	if _, err := Read(&Command{Config: path, ConfigDir: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("no error for a directory that does not exist")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(usual)
	f.Add(head + "a: &a [*a]\n")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := Parse("config.yaml", []byte(text)); err == nil {
			if _, err := c.TOML(); err != nil {
				t.Error(err)
			}
		}
	})
}
