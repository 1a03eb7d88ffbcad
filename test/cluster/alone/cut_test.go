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

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/test/conformance/instance"
)

// agreeWithin is the time from the end of a cut until node and cluster agree.
const agreeWithin = 30 * time.Second

// workload is what a namespace has before the network is cut. BUSY is a container that runs on.
const workload = `
apiVersion: v1
kind: Pod
metadata: {name: tolerant}
spec:
  tolerations: [{operator: Exists}]
  terminationGracePeriodSeconds: 1
  containers: [BUSY]
---
apiVersion: v1
kind: Pod
metadata: {name: changed}
spec:
  tolerations: [{operator: Exists}]
  terminationGracePeriodSeconds: 1
  containers: [BUSY]
---
apiVersion: v1
kind: Pod
metadata: {name: doomed}
spec:
  tolerations: [{operator: Exists}]
  terminationGracePeriodSeconds: 1
  containers: [BUSY]
---
apiVersion: v1
kind: Pod
metadata: {name: single, annotations: {wardlet.dev/on-disconnect: stop-after=40s}}
spec:
  tolerations: [{operator: Exists}]
  terminationGracePeriodSeconds: 1
  containers: [BUSY]
---
apiVersion: v1
kind: Pod
metadata: {name: restless}
spec:
  tolerations: [{operator: Exists}]
  terminationGracePeriodSeconds: 1
  containers: [{name: main, image: IMAGE, command: [sh, -c, "test -e /kept/once && exec sleep 36000; touch /kept/once; sleep 20"], volumeMounts: [{name: kept, mountPath: /kept}]}]
  volumes: [{name: kept, emptyDir: {}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [BUSY]
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: each}
spec:
  selector: {matchLabels: {app: each}}
  template:
    metadata: {labels: {app: each}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [BUSY]
---
apiVersion: batch/v1
kind: Job
metadata: {name: unwanted}
spec:
  template:
    spec:
      restartPolicy: Never
      tolerations: [{operator: Exists}]
      terminationGracePeriodSeconds: 1
      containers: [BUSY]
---
apiVersion: batch/v1
kind: Job
metadata: {name: work}
spec:
  template:
    spec:
      restartPolicy: Never
      tolerations: [{operator: Exists}]
      containers: [{name: main, image: IMAGE, command: [sleep, "30"]}]
`

// late is a pod that is made while the network is cut.
const late = `
apiVersion: v1
kind: Pod
metadata: {name: late}
spec:
  nodeName: NODE
  tolerations: [{operator: Exists}]
  terminationGracePeriodSeconds: 1
  containers: [BUSY]
`

// local is a static pod that is made while the network is cut.
const local = `
apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec:
  terminationGracePeriodSeconds: 1
  containers: [BUSY]
`

func fill(yaml string, more ...string) string {
	yaml = strings.ReplaceAll(yaml, "BUSY", `{name: main, image: IMAGE, command: [sh, -c, "trap 'exit 0' TERM; sleep 36000 & wait"]}`)
	return strings.NewReplacer(append([]string{"IMAGE", image}, more...)...).Replace(yaml)
}

// TestCut cuts the network between node and API server while pods are made, changed and deleted on
// both sides, and checks what became of each pod when it is back.
func TestCut(t *testing.T) {
	n := startNode(t)
	for _, c := range []struct {
		name  string
		away  time.Duration
		while func(n *node)
		// rebooted is true if no container survives. replaced is true if the cluster evicts the pods
		// that do not tolerate it.
		rebooted, replaced bool
	}{
		{name: "one minute", away: time.Minute},
		{name: "one minute in which the node restarts", away: time.Minute, rebooted: true, while: (*node).reboot},
		{name: "five minutes in which API server and agent restart", away: 5 * time.Minute, while: (*node).restartBoth},
		{name: "eight minutes", away: 8 * time.Minute, replaced: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			outer := n.T
			n.T = t
			defer func() { n.T = outer }()
			space := strings.ReplaceAll(c.name, " ", "-")
			must(t, n.MakeNamespace(t.Context(), strings.ToLower(space)))
			space = strings.ToLower(space)
			n.apply(space, fill(workload))
			n.eventually("start", 2*time.Minute, n.agree)
			before, err := n.pods(space)
			must(t, err)
			began := time.Now()
			n.net.Swallow()
			defer n.net.Mend()
			n.apply(space, fill(late, "NODE", n.Env["NODE_NAME"]))
			n.kubectl("-n", space, "patch", "pod", "changed", "-p", `{"spec":{"containers":[{"name":"main","image":"`+newer+`"}]}}`)
			n.kubectl("-n", space, "delete", "pod", "doomed", "--wait=false")
			n.kubectl("-n", space, "delete", "job", "unwanted", "--wait=false")
			manifest := filepath.Join(n.Env["STATIC_PODS"], space+".yaml")
			must(t, os.WriteFile(manifest, []byte(fill(local, "NAME", space)), 0o600))
			time.Sleep(15 * time.Second)
			if c.while != nil {
				c.while(n)
			}
			time.Sleep(c.away - time.Since(began))
			t.Logf("%s: the network is back", c.name)
			n.net.Mend()
			took := n.eventually("the network is back", 2*time.Minute, func() error { return errors.Join(n.ready(), n.agree()) })
			t.Logf("%s: both sides agree %s after the network was back", c.name, took.Round(time.Second))
			if took > agreeWithin {
				t.Errorf("that takes longer than %s", agreeWithin)
			}
			time.Sleep(10 * time.Second) // for what would be made again or ended by mistake
			n.eventually("later", time.Second, n.agree)
			after, err := n.pods(space)
			must(t, err)
			n.judge(before, after, c.rebooted, c.replaced)
			static, err := n.pods("default")
			must(t, err)
			if name := space + "-" + n.Env["NODE_NAME"]; running(static[name]) == "" {
				t.Errorf("the static pod that was made meanwhile has no mirror that runs: %v", static[name])
			}
			must(t, os.Remove(manifest))
			n.kubectl("delete", "namespace", space)
			n.eventually("end", time.Minute, n.agree)
		})
	}
}

// judge compares the pods of the workload before and after the cut.
func (n *node) judge(before, after map[string]*v1.Pod, rebooted, replaced bool) {
	n.Helper()
	same := func(name string, a, b *v1.Pod) {
		n.Helper()
		switch {
		case running(b) == "":
			n.Errorf("%s does not run: %+v", name, b)
		case a.UID != b.UID:
			n.Errorf("%s was replaced", name)
		case !rebooted && running(a) != running(b):
			n.Errorf("%s has another container", name)
		}
	}
	same("the tolerating pod", before["tolerant"], after["tolerant"])
	same("the DaemonSet's pod", named(before, "each-")[0], named(after, "each-")[0])
	switch was, is := named(before, "web-"), named(after, "web-"); {
	case len(is) != 1 || running(is[0]) == "":
		n.Errorf("the Deployment has pods %v", is)
	case replaced && was[0].UID == is[0].UID:
		n.Error("the Deployment's pod was not replaced")
	case !replaced:
		same("the Deployment's pod", was[0], is[0])
	}
	if after["doomed"] != nil {
		n.Error("the pod that was deleted is still there")
	}
	if left := named(after, "unwanted-"); len(left) > 0 {
		n.Errorf("the Job that was deleted has pods %v", left)
	}
	if running(after["late"]) == "" {
		n.Errorf("the pod that was made does not run: %+v", after["late"])
	}
	if p := after["changed"]; running(p) == "" || p.UID != before["changed"].UID || p.Status.ContainerStatuses[0].Image != newer || p.Status.ContainerStatuses[0].RestartCount == 0 {
		n.Errorf("the pod that was changed is %+v", p)
	}
	if p := after["single"]; p.Status.Phase != v1.PodFailed || p.Status.Reason != "Disconnected" || running(p) != "" {
		n.Errorf("the pod that must not run without the cluster is %+v", p)
	}
	if p := after["restless"]; running(p) == "" || p.Status.ContainerStatuses[0].RestartCount == 0 || p.UID != before["restless"].UID {
		n.Errorf("the pod whose container ended meanwhile is %+v", p)
	}
	switch work := named(after, "work-"); {
	case rebooted && len(work) == 0, !rebooted && (len(work) != 1 || work[0].Status.Phase != v1.PodSucceeded):
		n.Errorf("the Job has pods %v", work)
	}
}

// reboot stops the agent, ends every process of every pod, and starts the agent again. All pods must
// run before the network is back.
func (n *node) reboot() {
	n.Helper()
	before, err := n.tasks()
	must(n.T, err)
	must(n.T, n.KillNode())
	n.endTasks()
	n.startAlone()
	n.eventually("offline", time.Minute, func() error {
		after, err := n.tasks()
		if err == nil && len(after) < len(before)-6 { // those of the Jobs and the one that is stopped may have ended
			err = fmt.Errorf("%d containers and sandboxes run, of %d", len(after), len(before))
		}
		return err
	})
}

// restartBoth restarts the agent and the API server.
func (n *node) restartBoth() {
	n.Helper()
	must(n.T, n.KillNode())
	n.startAlone()
	must(n.T, n.RestartComponent("apiserver"))
}

// startAlone starts the agent, which cannot reach its API server. The script for it waits until the
// node is Ready, as the API server still says it is.
func (n *node) startAlone() {
	n.Helper()
	must(n.T, n.StartNode(n.Context(), instance.Wardlet))
}

// TestRestored restores etcd from a backup: pods made since are unknown to the cluster, and pods
// deleted since are there again.
func TestRestored(t *testing.T) {
	n := startNode(t)
	const space = "restored"
	must(t, n.MakeNamespace(t.Context(), space))
	n.apply(space, fill(workload))
	n.eventually("start", 2*time.Minute, n.agree)
	store, backup := filepath.Join(n.Dir, "etcd"), filepath.Join(n.Dir, "backup")
	etcd, err := n.KillComponent("etcd")
	must(t, err)
	must(t, os.CopyFS(backup, os.DirFS(store)))
	must(t, etcd.Start())
	n.eventually("etcd is back", time.Minute, n.ready)
	n.apply(space, fill(late, "NODE", n.Env["NODE_NAME"]))
	n.kubectl("-n", space, "delete", "pod", "doomed", "changed")
	n.kubectl("-n", space, "rollout", "restart", "deployment/web")
	n.kubectl("-n", space, "rollout", "status", "deployment/web")
	n.eventually("after the backup", 2*time.Minute, n.agree)
	before, err := n.pods(space)
	must(t, err)
	var stopped []*instance.Component
	for _, name := range []string{"sched", "kcm", "apiserver", "etcd"} {
		c, err := n.KillComponent(name)
		must(t, err)
		stopped = append([]*instance.Component{c}, stopped...)
	}
	must(t, os.RemoveAll(store))
	must(t, os.Rename(backup, store))
	for _, c := range stopped {
		must(t, c.Start())
		if c.Name == "apiserver" {
			n.eventually("the API server is back", time.Minute, func() error {
				_, err := n.Kubectl(n.Context(), "get", "--raw", "/readyz")
				return err
			})
		}
	}
	took := n.eventually("the cluster is restored", 2*time.Minute, func() error { return errors.Join(n.ready(), n.agree()) })
	t.Logf("both sides agree %s after the API server was ready", took.Round(time.Second))
	if took > agreeWithin {
		t.Errorf("that takes longer than %s", agreeWithin)
	}
	after, err := n.pods(space)
	must(t, err)
	if after["late"] != nil || running(after["doomed"]) == "" || running(after["changed"]) == "" {
		t.Errorf("pods after the restore: %v", after)
	}
	if a, b := running(before["tolerant"]), running(after["tolerant"]); a != b {
		t.Errorf("the pod that did not change has container %s, had %s", b, a)
	}
}
