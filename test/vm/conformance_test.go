//go:build vm

package vm

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var (
	focus = flag.String("focus", "", "which of Kubernetes' tests TestConformance runs, a regular expression; empty for those of test/conformance/vm.txt")
	limit = flag.Duration("limit", 12*time.Hour, "for how long TestConformance runs them")
)

// TestConformance runs Kubernetes' own tests against the agent on the machine: with systemd as the
// cgroup driver, on cgroup v2. The control plane and the tests run outside. make conformance-vm runs
// it; its logs and lists are in build/conformance/vm. A test that fails runs once more.
func TestConformance(t *testing.T) {
	scripts := filepath.Join("..", "conformance")
	out, err := filepath.Abs(filepath.Join(build, "conformance", "vm"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.RemoveAll(out), os.MkdirAll(out, 0o755)); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	env := controlPlane(t, scripts, dir, "MACHINE=1", "NODE_NAME=vm")
	m := &machine{dir: t.TempDir(), tap: env["TAP"], data: filepath.Join(dir, "data")}
	disk, err := os.Create(m.data)
	if err == nil {
		err = errors.Join(disk.Truncate(16<<30), disk.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	m.install(t)
	m.configure(t, "[node_api]", "[node_api]\ncert_file = \"/etc/wardlet/serving.crt\"\nkey_file = \"/etc/wardlet/serving.key\"\nclient_ca_file = \"/etc/wardlet/clients.crt\"",
		"## [cluster]", fmt.Sprintf("[cluster]\nkubeconfig = \"/etc/wardlet/node.kubeconfig\"\nnode_ip = %q\ndns = [%q]", env["NODE_IP"], env["CLUSTER_DNS"]),
		"#image_gc_high_threshold_percent = 85", "image_gc_high_threshold_percent = 100",
	)
	m.join(t, dir, env)
	run := []string{filepath.Join(scripts, "run-list.sh"), "vm"}
	if *focus != "" {
		run = []string{filepath.Join(scripts, "run.sh"), *focus}
	}
	if err := stream(t, run, "CONFORMANCE_DIR="+dir, "OUT="+out, "PROCS=2", "TIMEOUT="+limit.String()); err != nil {
		t.Errorf("%v; logs and lists are in %s", err, out)
	}
	m.put(t, "agent.log", "", 0o644)
	m.try("journalctl -u wardlet --no-pager -o cat >/host/agent.log")
	if text, err := os.ReadFile(m.host("agent.log")); err == nil {
		_ = os.WriteFile(filepath.Join(out, "node.log"), text, 0o644) // the lists are there without it
	}
}

// join sets the address of the machine, and installs what the agent and containerd need of a cluster.
func (m *machine) join(t *testing.T, dir string, env map[string]string) {
	t.Helper()
	for name, file := range map[string]string{
		"node.kubeconfig": env["NODE_KUBECONFIG"], "ca.crt": filepath.Join(dir, "k8s", "ca.crt"), "node.crt": filepath.Join(dir, "k8s", "node.crt"),
		"node.key": filepath.Join(dir, "k8s", "node.key"), "serving.crt": env["SERVING_CERT"], "serving.key": env["SERVING_KEY"],
		"machine.conflist": filepath.Join(dir, "machine.conflist"),
	} {
		m.put(t, name, strings.ReplaceAll(read(t, file), filepath.Join(dir, "k8s"), "/etc/wardlet"), 0o600)
	}
	pause := strings.TrimSpace(read(t, filepath.Join(build, "conformance", "img", "pause.ref")))
	m.mirror(t, dir)
	m.run(t, `set -e
systemctl stop wardlet containerd
install -m 0600 /host/node.kubeconfig /host/node.crt /host/node.key /host/ca.crt /host/serving.crt /host/serving.key /etc/wardlet/
install -m 0644 /host/ca.crt /etc/wardlet/clients.crt
install -m 0600 /host/agent.toml /etc/wardlet/agent.toml
install -m 0644 /host/machine.conflist /etc/cni/net.d/10-vm.conflist
sed -i 's|registry.wardlet.test/pause:1|`+pause+`|' /etc/containerd/config.toml
mkfs.ext4 -q /dev/ubdb
rm -rf /var/lib/containerd/*
mount /dev/ubdb /var/lib/containerd
ip link add cni0 type bridge
ip link set vec0 up master cni0
ip addr add `+env["NODE_IP"]+`/20 dev cni0
ip link set cni0 up
systemctl start containerd`)
	// A pull and its unpacking take minutes here, during which tests give up.
	images, err := filepath.Glob(filepath.Join(build, "conformance", "img", "*.tar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, image := range images {
		began := time.Now()
		if output, err := exec.CommandContext(t.Context(), "cp", "--reflink=auto", image, m.host("image.tar")).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, output)
		}
		if output, err := m.script("ctr -n k8s.io images import --local /host/image.tar", 5*scriptTimeout); err != nil {
			t.Fatalf("%s: %v\n%s", image, err, output)
		}
		if err := os.Remove(m.host("image.tar")); err != nil {
			t.Fatal(err)
		}
		t.Logf("image %s imported in %s", filepath.Base(image), time.Since(began).Round(time.Second))
	}
	m.run(t, "systemctl start wardlet")
	kubectl := filepath.Join(build, "tools", "kubectl")
	poll(t, "the node is ready", func() error {
		output, err := exec.CommandContext(t.Context(), kubectl, "--kubeconfig="+env["KUBECONFIG"], "wait", "--for=condition=Ready", "--timeout=1s", "node/vm").CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, output)
		}
		return nil
	})
}

// mirror lets containerd pull from the mirror of the control plane in dir. It must be restarted then.
func (m *machine) mirror(t *testing.T, dir string) {
	t.Helper()
	if output, err := exec.CommandContext(t.Context(), "cp", "-r", filepath.Join(dir, "ctrd", "certs.d"), m.host("certs.d")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	m.run(t, `set -e
cp -r /host/certs.d /etc/containerd/
sed -i 's|^\[plugins."io.containerd.cri.v1.runtime"\]|  [plugins."io.containerd.cri.v1.images".registry]\n    config_path = "/etc/containerd/certs.d"\n&|' /etc/containerd/config.toml`)
}

// controlPlane starts a control plane in dir, and returns its env file.
func controlPlane(t *testing.T, scripts, dir string, env ...string) map[string]string {
	t.Helper()
	t.Cleanup(func() {
		down := exec.CommandContext(context.Background(), filepath.Join(scripts, "down.sh"), dir, "-k")
		if output, err := down.CombinedOutput(); err != nil {
			t.Errorf("down.sh: %v\n%s", err, output)
		}
	})
	if err := stream(t, []string{filepath.Join(scripts, "up.sh"), dir}, env...); err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for line := range strings.Lines(read(t, filepath.Join(dir, "env"))) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		values[name] = value
	}
	return values
}

// stream runs a command and logs each line of its output as it comes.
func stream(t *testing.T, command []string, env ...string) error {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	last := ""
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return err
	}
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		last = lines.Text()
		t.Log(last)
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(command[0]), err, last)
	}
	return nil
}
