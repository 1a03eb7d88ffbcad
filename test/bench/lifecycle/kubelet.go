package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// newKubelet returns a kubelet that runs static pods and has no API server.
func (b *bench) newKubelet() (*agent, error) {
	a, err := newAgent(kubelet, "")
	if err != nil {
		return nil, err
	}
	ports, err := freePorts(2)
	if err != nil {
		return a, err
	}
	// A kubelet writes some files below /var/lib and /var/log despite its flags. They and the mount
	// of its root directory are in a mount namespace that ends with the kubelet.
	for _, dir := range []string{"root", "certs", "logs", "plugins", "varlib", "varlog"} {
		if err := os.Mkdir(a.Path(dir), 0o700); err != nil {
			return a, err
		}
	}
	const script = `mount --bind "$1" /var/lib && mount --bind "$2" /var/log && shift 2 && exec "$@"`
	program := b.built("tools", "kubelet")
	a.command = func() *exec.Cmd {
		command := exec.Command("sh", "-c", script, "sh", a.Path("varlib"), a.Path("varlog"), program,
			"--config="+a.Path("config.yaml"), "--root-dir="+a.Path("root"), "--cert-dir="+a.Path("certs"),
			// A kubelet looks this name up at every admission.
			"--hostname-override="+nodeName)
		command.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
		return command
	}
	a.ready = func(ctx context.Context) error { return healthy(ctx, ports[1]) }
	if a.undo, err = keepSettings(); err != nil {
		return a, err
	}
	if err := makeCgroups(a.Cgroup()); err != nil {
		return a, err
	}
	return a, os.WriteFile(a.Path("config.yaml"), []byte(kubeletConfig(a, b.endpoint(), ports[0], ports[1])), 0o600)
}

// kubeletConfig returns a kubelet's configuration; settings that are missing have their defaults.
func kubeletConfig(a *agent, endpoint string, port, healthPort int) string {
	return strings.NewReplacer(
		"DIR", a.Dir, "ENDPOINT", endpoint, "CGROUP", "/"+a.Cgroup(),
		"HEALTH", strconv.Itoa(healthPort), "PORT", strconv.Itoa(port),
	).Replace(`apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
staticPodPath: DIR/manifests
podLogsDir: DIR/logs
volumePluginDir: DIR/plugins
containerRuntimeEndpoint: ENDPOINT
cgroupDriver: cgroupfs
cgroupRoot: CGROUP
cgroupsPerQOS: true
enforceNodeAllocatable: [pods]
failCgroupV1: false
failSwapOn: false
oomScoreAdj: 0
registerNode: false
makeIPTablesUtilChains: false
enableControllerAttachDetach: false
maxPods: 250
address: 127.0.0.1
port: PORT
readOnlyPort: 0
healthzBindAddress: 127.0.0.1
healthzPort: HEALTH
authentication:
  anonymous: {enabled: true}
  webhook: {enabled: false}
authorization: {mode: AlwaysAllow}
imageGCHighThresholdPercent: 100
evictionHard: {memory.available: 0%, nodefs.available: 0%, nodefs.inodesFree: 0%, imagefs.available: 0%}
`)
}

// healthy returns nil if a kubelet reports that it is healthy.
func healthy(ctx context.Context, port int) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/healthz", port), http.NoBody)
	if err != nil {
		return err
	}
	request.Close = true
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("it is not healthy: %s: %s", answer.Status, text)
	}
	return nil
}

// freePorts returns ports of 127.0.0.1 on which no process listens.
func freePorts(n int) (ports []int, err error) {
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer listener.Close()
		_, port, err := net.SplitHostPort(listener.Addr().String())
		if err != nil {
			return nil, err
		}
		number, err := net.LookupPort("tcp", port)
		if err != nil {
			return nil, err
		}
		ports = append(ports, number)
	}
	return ports, nil
}
