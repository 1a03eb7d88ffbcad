//go:build e2e

package alone

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/test/privateruntime"
)

// TestReboot ends all tasks of the runtime, as a restart of the machine does, and measures how long
// the agent takes until all pods run. The pods of the cluster must start without it.
func TestReboot(t *testing.T) {
	const limit = 10 * time.Second
	n := startNode(t)
	const space, statics, pods = "reboot", 20, 30
	must(t, n.MakeNamespace(t.Context(), space))
	for i := range statics {
		manifest := filepath.Join(n.Env["STATIC_PODS"], fmt.Sprintf("static%d.yaml", i))
		must(t, os.WriteFile(manifest, []byte(fill(local, "NAME", fmt.Sprintf("static%d", i))), 0o600))
	}
	n.eventually("start", 2*time.Minute, n.agree)
	n.reboots("20 static pods whose tasks were ended", statics, false, limit)
	n.eventually("after", 2*time.Minute, func() error { return errors.Join(n.ready(), n.agree()) })
	for i := range statics {
		must(t, os.Remove(filepath.Join(n.Env["STATIC_PODS"], fmt.Sprintf("static%d.yaml", i))))
	}
	n.eventually("end", 2*time.Minute, n.agree)

	var yaml strings.Builder
	yaml.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {one: \"1\"}\n")
	for i := range pods {
		policy := "IfNotPresent"
		if i%3 == 0 {
			policy = "Always"
		}
		fmt.Fprintf(&yaml, `---
apiVersion: v1
kind: Pod
metadata: {name: pod-%d}
spec:
  nodeName: %s
  terminationGracePeriodSeconds: 0
  containers:
  - name: main
    image: %s
    imagePullPolicy: %s
    command: [sh, -c, "test -s /var/run/secrets/kubernetes.io/serviceaccount/token && test -s /settings/one && exec sleep 36000"]
    env: [{name: ONE, valueFrom: {configMapKeyRef: {name: settings, key: one}}}]
    volumeMounts: [{name: settings, mountPath: /settings}]
  volumes: [{name: settings, configMap: {name: settings}}]
`, i, n.Env["NODE_NAME"], image, policy)
	}
	n.apply(space, yaml.String())
	n.eventually("start", 2*time.Minute, n.agree)
	n.net.Swallow()
	n.reboots("30 pods without the cluster, removed from the runtime", pods, true, limit)
	n.net.Mend()
	n.eventually("after", 2*time.Minute, func() error { return errors.Join(n.ready(), n.agree()) })
}

// reboots stops the agent, ends all tasks and, if removed is true, removes all pods of the runtime. It
// starts the agent and waits until so many containers run.
func (n *node) reboots(what string, containers int, removed bool, limit time.Duration) {
	n.Helper()
	conn, err := privateruntime.Dial("unix://" + n.Env["CRI_SOCK"])
	must(n.T, err)
	defer conn.Close()
	cri := criapi.NewRuntimeServiceClient(conn)
	must(n.T, n.KillNode())
	n.endTasks()
	if removed {
		all, err := cri.ListPodSandbox(n.Context(), &criapi.ListPodSandboxRequest{})
		must(n.T, err)
		for _, s := range all.GetItems() {
			_, err := cri.RemovePodSandbox(n.Context(), &criapi.RemovePodSandboxRequest{PodSandboxId: s.GetId()})
			must(n.T, err)
		}
	}
	began := time.Now()
	n.startAlone()
	n.eventually(what, time.Minute, func() error {
		all, err := cri.ListContainers(n.Context(), &criapi.ListContainersRequest{Filter: &criapi.ContainerFilter{
			State: &criapi.ContainerStateValue{State: criapi.ContainerState_CONTAINER_RUNNING},
		}})
		if now := len(all.GetContainers()); err == nil && now != containers {
			err = fmt.Errorf("%d of %d run", now, containers)
		}
		return err
	})
	took := time.Since(began)
	n.Logf("%s: all run %s after the agent was started", what, took.Round(10*time.Millisecond))
	if took > limit {
		n.Errorf("%s: %s is more than %s", what, took, limit)
	}
}
