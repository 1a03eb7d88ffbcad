//go:build e2e

package kubectl

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// metricsObjects are what metrics-server needs at the API server: rights, and the API that it serves
// at an address.
const metricsObjects = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: metrics-server, namespace: kube-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: metrics-server}
rules:
- {apiGroups: [""], resources: [nodes/metrics], verbs: [get]}
- {apiGroups: [""], resources: [pods, nodes], verbs: [get, list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: metrics-server}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: metrics-server}
subjects: [{kind: ServiceAccount, name: metrics-server, namespace: kube-system}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: metrics-server-delegator}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: system:auth-delegator}
subjects: [{kind: ServiceAccount, name: metrics-server, namespace: kube-system}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: metrics-server, namespace: kube-system}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: extension-apiserver-authentication-reader}
subjects: [{kind: ServiceAccount, name: metrics-server, namespace: kube-system}]
---
apiVersion: v1
kind: Service
metadata: {name: metrics-server, namespace: kube-system}
spec: {ports: [{name: https, port: 443}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: metrics-server, namespace: kube-system, labels: {kubernetes.io/service-name: metrics-server}}
addressType: IPv4
endpoints: [{addresses: [ADDRESS], conditions: {ready: true}}]
ports: [{name: https, port: PORT}]
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.metrics.k8s.io}
spec:
  group: metrics.k8s.io
  version: v1beta1
  insecureSkipTLSVerify: true
  groupPriorityMinimum: 100
  versionPriority: 100
  service: {name: metrics-server, namespace: kube-system}
`

// startMetricsServer runs metrics-server as a service account, until the test ends.
func (s *space) startMetricsServer() {
	s.Helper()
	address := cluster.Env["NODE_IP"]
	free, err := net.Listen("tcp", address+":0")
	if err != nil {
		s.Fatal(err)
	}
	_, port, err := net.SplitHostPort(free.Addr().String())
	if err := errors.Join(err, free.Close()); err != nil {
		s.Fatal(err)
	}
	objects := strings.NewReplacer("ADDRESS", address, "PORT", port).Replace(metricsObjects)
	if _, err := cluster.Apply(s.Context(), objects, "apply", "-f", "-"); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { // an API that does not answer keeps namespaces from ending
		if _, err := cluster.Apply(context.Background(), objects, "delete", "-f", "-"); err != nil {
			s.Error(err)
		}
	})
	token, err := cluster.Kubectl(s.Context(), "-n", "kube-system", "create", "token", "metrics-server", "--duration=1h")
	if err != nil {
		s.Fatal(err)
	}
	dir := s.TempDir()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(kubeconfig, fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: %q, certificate-authority: %q}}]
users: [{name: u, user: {token: %q}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`, cluster.Env["APISERVER"], cluster.Env["CLIENT_CA"], strings.TrimSpace(token)), 0o600); err != nil {
		s.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		s.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	server := exec.CommandContext(ctx, cluster.Program("metrics-server"), "--kubeconfig="+kubeconfig, "--authentication-kubeconfig="+kubeconfig,
		"--authorization-kubeconfig="+kubeconfig, "--secure-port="+port, "--cert-dir="+filepath.Join(dir, "certs"), "--metric-resolution=10s", "--kubelet-request-timeout=5s",
		"--kubelet-preferred-address-types=InternalIP", "--kubelet-use-node-status-port", "--kubelet-certificate-authority="+cluster.Env["CLIENT_CA"])
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		cancel()
		s.Fatal(err)
	}
	s.Cleanup(func() {
		cancel()
		_ = server.Wait() // it was killed
		log.Close()
		if text, err := os.ReadFile(log.Name()); s.Failed() {
			s.Logf("the log of metrics-server: %v\n%s", err, text[max(0, len(text)-5000):])
		}
	})
}

// TestTop_throughMetricsServer: kubectl top shows what pods and the node use, also after the agent was
// killed.
func TestTop_throughMetricsServer(t *testing.T) {
	s := newSpace(t)
	s.startMetricsServer()
	s.apply(strings.Replace(pod("busy", busybox, "while :; do :; done"), "imagePullPolicy:", "resources: {limits: {cpu: 100m, memory: 64Mi}}, imagePullPolicy:", 1))
	shown := func(since time.Time) {
		t.Helper()
		s.eventually("kubectl top shows the pod", func() error {
			if time.Since(since) < 0 {
				return errors.New("the statistics may be from before")
			}
			out, err := s.try("", "top", "pod", "busy", "--no-headers")
			if err != nil {
				return err
			}
			fields := strings.Fields(out)
			if len(fields) != 3 {
				return fmt.Errorf("%q", out)
			}
			cpu, memory := resource.MustParse(fields[1]), resource.MustParse(fields[2])
			if n := cpu.MilliValue(); n < 50 || n > 150 || memory.Value() > 64<<20 {
				return fmt.Errorf("a pod that uses 100m: %q", out)
			}
			return nil
		})
		s.eventually("kubectl top shows the node", func() error {
			out, err := s.try("", "top", "node", "--no-headers")
			if err != nil {
				return err
			}
			fields := strings.Fields(out)
			if len(fields) != 5 || fields[0] != cluster.Env["NODE_NAME"] {
				return fmt.Errorf("%q", out)
			}
			for _, i := range []int{2, 4} {
				if n, err := strconv.Atoi(strings.TrimSuffix(fields[i], "%")); err != nil || n < 1 || n > 200 {
					return fmt.Errorf("%q", out)
				}
			}
			return nil
		})
	}
	shown(time.Now())
	s.kill()
	shown(time.Now().Add(25 * time.Second)) // two periods of metrics-server and more
}
