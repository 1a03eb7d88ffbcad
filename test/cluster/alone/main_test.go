//go:build e2e

package alone

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/test/cluster/network"
	"github.com/wardlet/wardlet/test/conformance/instance"
)

// images are two versions of one image, which up.sh has imported.
const image, newer = "registry.k8s.io/e2e-test-images/busybox:1.36.1-1", "registry.k8s.io/e2e-test-images/busybox:1.37.0-1"

// node is a node of a cluster of its own, with a network that can be cut.
type node struct {
	*instance.Instance
	*testing.T
	net   *network.Network
	admin *instance.Admin
}

// startNode starts a cluster and its node. They end with the test.
func startNode(t *testing.T) *node {
	t.Helper()
	dir := t.TempDir()
	i, err := instance.Start(t.Context(), dir)
	must(t, err)
	n := &node{Instance: i, T: t}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the agent's log ends with:\n%s", tail(i.Log(), 60))
		}
		if err := i.Down(); err != nil {
			t.Error(err)
		}
	})
	n.net, err = network.New(strings.TrimPrefix(i.Env["APISERVER"], "https://"))
	must(t, err)
	t.Cleanup(n.net.Close)
	n.admin, err = i.Admin()
	must(t, err)
	own, err := os.ReadFile(i.Env["NODE_KUBECONFIG"])
	must(t, err)
	via := filepath.Join(dir, "via.kubeconfig")
	must(t, os.WriteFile(via, []byte(strings.Replace(string(own), i.Env["APISERVER"], n.net.URL(), 1)), 0o600))
	i.Extra = []string{"NODE_VIA=" + via}
	must(t, i.StartNode(t.Context(), instance.Wardlet))
	return n
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func tail(text string, n int) string {
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// apply makes objects.
func (n *node) apply(namespace, yaml string) {
	n.Helper()
	_, err := n.Apply(n.Context(), yaml, "-n", namespace, "apply", "-f", "-")
	must(n.T, err)
}

func (n *node) kubectl(args ...string) string {
	n.Helper()
	out, err := n.Kubectl(n.Context(), args...)
	must(n.T, err)
	return out
}

// pods returns the pods of a namespace, or of all if it is empty, as the API server has them, by name.
func (n *node) pods(namespace string) (map[string]*v1.Pod, error) {
	args := []string{"get", "pods", "-o", "json", "-A"}
	if namespace != "" {
		args = []string{"get", "pods", "-o", "json", "-n", namespace}
	}
	out, err := n.Kubectl(n.Context(), args...)
	if err != nil {
		return nil, err
	}
	var list v1.PodList
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		return nil, err
	}
	pods := map[string]*v1.Pod{}
	for i := range list.Items {
		pods[list.Items[i].Name] = &list.Items[i]
	}
	return pods, nil
}

// tasks returns the IDs of the containers and sandboxes that run in the runtime.
func (n *node) tasks() (map[string]bool, error) {
	out, err := n.Ctr(n.Context(), "task", "list")
	ids := map[string]bool{}
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[2] == "RUNNING" {
			ids[fields[0]] = true
		}
	}
	return ids, err
}

// agree returns nil if the API server says of every pod what the runtime has: each pod has ended or
// runs, and exactly its containers and sandboxes run.
func (n *node) agree() error {
	pods, err := n.pods("")
	if err != nil {
		return err
	}
	tasks, err := n.tasks()
	if err != nil {
		return err
	}
	for name, p := range pods {
		switch {
		case p.DeletionTimestamp != nil:
			return fmt.Errorf("pod %s is being deleted", name)
		case p.Spec.NodeName == "":
			return fmt.Errorf("pod %s is not scheduled", name)
		case p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed:
			continue
		case p.Status.Phase != v1.PodRunning:
			return fmt.Errorf("pod %s is %s", name, p.Status.Phase)
		}
		for _, c := range p.Status.ContainerStatuses {
			id := strings.TrimPrefix(c.ContainerID, "containerd://")
			if c.State.Running == nil || !tasks[id] {
				return fmt.Errorf("container %s of pod %s runs for one side only: %+v", id, name, c.State)
			}
			delete(tasks, id)
		}
		tasks[string(p.UID)] = false // its sandbox, whose ID the API server does not know
	}
	sandboxes, running := 0, 0
	for _, is := range tasks {
		if is {
			running++
		} else {
			sandboxes++
		}
	}
	if running != sandboxes {
		return fmt.Errorf("%d sandboxes of %d pods run", running, sandboxes)
	}
	return nil
}

// eventually waits until f returns nil, and returns how long that took.
func (n *node) eventually(what string, within time.Duration, f func() error) time.Duration {
	n.Helper()
	began := time.Now()
	for {
		err := f()
		if err == nil {
			return time.Since(began)
		}
		if time.Since(began) > within {
			n.Fatalf("%s: after %s: %v", what, within, err)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// ready returns nil if the API server is ready and has the node as Ready.
func (n *node) ready() error {
	if err := n.admin.Do(n.Context(), http.MethodGet, "/readyz", nil); err != nil {
		return err
	}
	out, err := n.Kubectl(n.Context(), "get", "node", n.Env["NODE_NAME"], "-o", `jsonpath={.status.conditions[?(@.type=="Ready")].status}`)
	if err == nil && out != "True" {
		err = errors.New("the node is not Ready: " + out)
	}
	return err
}

// running returns the ID of a pod's only container, empty if it does not run.
func running(p *v1.Pod) string {
	if p == nil || len(p.Status.ContainerStatuses) != 1 || p.Status.ContainerStatuses[0].State.Running == nil {
		return ""
	}
	return strings.TrimPrefix(p.Status.ContainerStatuses[0].ContainerID, "containerd://")
}

// named returns the pods whose name begins with a prefix.
func named(pods map[string]*v1.Pod, prefix string) (all []*v1.Pod) {
	for name, p := range pods {
		if strings.HasPrefix(name, prefix) {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b *v1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// endTasks kills every process of every pod, as a restart of the machine does.
func (n *node) endTasks() {
	n.Helper()
	n.eventually("all tasks end", time.Minute, func() error {
		tasks, err := n.tasks()
		for id := range tasks {
			_, failed := n.Ctr(n.Context(), "task", "delete", "--force", id) // it may have ended by itself
			err = errors.Join(err, failed)
		}
		return err
	})
}
