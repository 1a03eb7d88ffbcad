//go:build vm

package vm

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
)

// kubeadmConfig is the configuration of the cluster, as kubeadm init has it.
const kubeadmConfig = `apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: v1.36.3
controlPlaneEndpoint: SERVER
networking: {serviceSubnet: 10.96.0.0/16, dnsDomain: cluster.local}
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
bootstrapTokens: [{token: abcdef.0123456789abcdef, ttl: 1h, usages: [signing, authentication], groups: [system:bootstrappers:kubeadm:default-node-token]}]
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: systemd
evictionHard: {memory.available: 50Mi}
`

// site is a cluster whose control plane runs outside of the machine.
type site struct {
	// dir has the files of the control plane; server is HOST:PORT.
	dir, server string
	env         map[string]string
}

// newSite starts a control plane that kubeadm has prepared for nodes to join.
func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{dir: t.TempDir()}
	// An API server of kubeadm does not verify the certificates of nodes.
	s.env = controlPlane(t, filepath.Join("..", "conformance"), s.dir, "MACHINE=1", "NODE_NAME=vm",
		"APISERVER_EXTRA=--enable-bootstrap-token-auth=true --kubelet-certificate-authority=", "KCM_EXTRA=--controllers=*,bootstrapsigner,tokencleaner")
	server, err := url.Parse(s.env["APISERVER"])
	if err != nil {
		t.Fatal(err)
	}
	s.server = server.Host
	config := filepath.Join(s.dir, "kubeadm.yaml")
	text := strings.ReplaceAll(kubeadmConfig, "SERVER", s.server)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, phase := range []string{"upload-config all", "bootstrap-token"} {
		s.program(t, "kubeadm", append(strings.Fields("init phase "+phase), "--config="+config, "--kubeconfig="+s.env["KUBECONFIG"])...)
	}
	return s
}

// program runs one of the programs of build/tools and returns its output.
func (s *site) program(t *testing.T, name string, args ...string) string {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), filepath.Join(build, "tools", name), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, output)
	}
	return string(output)
}

// kubectl runs kubectl as an administrator, which must succeed.
func (s *site) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return s.program(t, "kubectl", append([]string{"--kubeconfig=" + s.env["KUBECONFIG"]}, args...)...)
}

// get returns an object as kubectl get has it; it is left as it is while there is none.
func (s *site) get(into any, args ...string) error {
	output, err := exec.Command(filepath.Join(build, "tools", "kubectl"), append(args, "-o", "json", "--kubeconfig="+s.env["KUBECONFIG"])...).Output()
	if err != nil {
		return err
	}
	return json.Unmarshal(output, into)
}

// pods waits until check returns nil for the pods of the cluster.
func (s *site) pods(t *testing.T, what string, check func(pods map[string]*v1.Pod) error) map[string]*v1.Pod {
	t.Helper()
	var found map[string]*v1.Pod
	poll(t, what, func() error {
		var list v1.PodList
		if err := s.get(&list, "get", "pods"); err != nil {
			return err
		}
		found = map[string]*v1.Pod{}
		for i := range list.Items {
			found[list.Items[i].Name] = &list.Items[i]
		}
		return check(found)
	})
	return found
}

// ready returns nil if a pod runs and is ready.
func ready(p *v1.Pod) error {
	if p == nil {
		return errors.New("it does not exist")
	}
	if p.Status.Phase != v1.PodRunning || len(p.Status.ContainerStatuses) == 0 || !p.Status.ContainerStatuses[0].Ready {
		return fmt.Errorf("pod %s: %s %s %+v", p.Name, p.Status.Phase, p.Status.Reason, p.Status.ContainerStatuses)
	}
	return nil
}

// newNode boots a machine in the network of the site, with the programs of a node of kubeadm, and with
// the agent as its kubelet.
func (s *site) newNode(t *testing.T) *machine {
	t.Helper()
	m := &machine{dir: t.TempDir(), tap: s.env["TAP"]}
	m.install(t)
	s.replaceKubelet(t, m)
	return m
}

// replaceKubelet installs the agent of a machine as its kubelet, and the programs of a node of kubeadm.
func (s *site) replaceKubelet(t *testing.T, m *machine) {
	t.Helper()
	host, _, _ := strings.Cut(s.server, ":")
	if err := os.Link(filepath.Join(build, "tools", "kubeadm"), m.host("kubeadm")); err != nil {
		t.Fatal(err)
	}
	m.put(t, "kubelet.service", read(t, filepath.Join("..", "..", "packaging", "kubelet.service")), 0o644)
	m.run(t, `set -e
systemctl disable --now wardlet
rm /etc/systemd/system/wardlet.service /etc/wardlet/agent.toml
install -m 0755 /host/kubeadm /usr/local/bin/kubeadm
ln -s wardlet /usr/local/bin/kubelet
install -m 0644 /host/kubelet.service /etc/systemd/system/kubelet.service
cat >/etc/systemd/system/network.service <<END
[Unit]
Before=network-online.target
[Service]
Type=oneshot
ExecStart=ip addr add `+s.env["NODE_IP"]+`/20 dev vec0
ExecStart=ip link set vec0 up
ExecStart=ip route add default via `+host+`
ExecStart=sysctl -w net.ipv4.ip_forward=1
[Install]
WantedBy=network-online.target
END
systemctl daemon-reload
systemctl enable kubelet
systemctl enable --now network`)
}

// join joins the machine to the cluster.
func (s *site) join(t *testing.T, m *machine) {
	t.Helper()
	output, err := m.script("kubeadm join "+s.server+" --token abcdef.0123456789abcdef --discovery-token-unsafe-skip-ca-verification --ignore-preflight-errors=SystemVerification,Mem,NumCPU 2>&1", 3*scriptTimeout)
	if err != nil {
		t.Fatalf("kubeadm join: %v\n%s", err, m.try("journalctl -u kubelet --no-pager -o cat | tail -n 60"))
	}
	t.Logf("kubeadm join:\n%s", output)
	poll(t, "the node is ready", func() error {
		var node v1.Node
		if err := s.get(&node, "get", "node", "vm"); err != nil {
			return err
		}
		for _, c := range node.Status.Conditions {
			if c.Type == v1.NodeReady && c.Status == v1.ConditionTrue {
				return nil
			}
		}
		return fmt.Errorf("conditions %+v", node.Status.Conditions)
	})
}

// TestKubeadm_joinAndReset: kubeadm joins a machine whose kubelet is the agent, with a token, and
// resets it. Nothing of kubeadm knows of the agent.
func TestKubeadm_joinAndReset(t *testing.T) {
	s := newSite(t)
	m := s.newNode(t)
	s.join(t, m)
	for path, want := range map[string]string{
		"/etc/kubernetes/kubelet.conf":                    "client-certificate: /var/lib/kubelet/pki/kubelet-client-current.pem",
		"/var/lib/kubelet/pki/kubelet-client-current.pem": "PRIVATE KEY",
	} {
		if text := m.run(t, "cat "+path); !strings.Contains(text, want) {
			t.Errorf("%s lacks %q", path, want)
		}
	}
	var node v1.Node
	if err := s.get(&node, "get", "node", "vm"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(node.Status.NodeInfo.KubeletVersion, "wardlet") {
		t.Errorf("the node's version is %s", node.Status.NodeInfo.KubeletVersion)
	}
	m.put(t, "static.yaml", podManifest("static", "sleep"), 0o644)
	m.run(t, "mkdir -p /etc/kubernetes/manifests; cp /host/static.yaml /etc/kubernetes/manifests/")
	manifest := filepath.Join(s.dir, "pod.yaml")
	text := strings.Replace(podManifest("web", "sleep"), "spec:\n", "spec:\n  nodeName: vm\n", 1)
	if err := os.WriteFile(manifest, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.kubectl(t, "apply", "-f", manifest)
	s.pods(t, "both pods run", func(pods map[string]*v1.Pod) error { return errors.Join(ready(pods["web"]), ready(pods["static-vm"])) })
	s.kubectl(t, "logs", "web")
	if got := s.kubectl(t, "exec", "web", "--", "/testbox", "echo", "hello"); strings.TrimSpace(got) != "hello" {
		t.Errorf("exec prints %q", got)
	}
	if output, err := m.script("kubeadm reset -f 2>&1", 3*scriptTimeout); err != nil {
		t.Errorf("kubeadm reset: %v\n%s", err, output)
	}
	if left := m.try("ctr -n k8s.io task ls -q; ls /etc/kubernetes/kubelet.conf /var/lib/kubelet/pods 2>/dev/null; systemctl is-active kubelet"); strings.TrimSpace(left) != "inactive" {
		t.Errorf("after the reset: %s", left)
	}
}
