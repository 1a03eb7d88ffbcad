//go:build e2e

package kubectl

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
)

// pod returns the manifest of a pod with one container that runs a script; more are further lines
// of its spec.
func pod(name, image, script string, more ...string) string {
	return fmt.Sprintf("---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec:\n  terminationGracePeriodSeconds: 2\n"+
		"  containers:\n  - {name: main, image: %q, imagePullPolicy: IfNotPresent, command: [sh, -c, %q]}\n", name, image, script) +
		strings.Join(more, "\n") + "\n"
}

// statuses returns the pod statuses of the namespace from the API server, by name.
func (s *space) statuses() map[string]v1.PodStatus {
	s.Helper()
	var list v1.PodList
	if err := json.Unmarshal([]byte(s.kubectl("get", "pods", "-o", "json")), &list); err != nil {
		s.Fatal(err)
	}
	all := map[string]v1.PodStatus{}
	for i := range list.Items {
		all[list.Items[i].Name] = list.Items[i].Status
	}
	return all
}

// passes is longer than an agent needs from its start until it has compared all pods with those at
// the API server.
const passes = 15 * time.Second

// If no pod has changed, an agent that starts writes nothing to the API server.
func TestRestart_statusesStay(t *testing.T) {
	s := newSpace(t)
	s.apply(pod("runs", busybox, endless) +
		pod("ended", busybox, "exit 0", "  restartPolicy: Never") + pod("failed", busybox, "exit 3", "  restartPolicy: Never") +
		pod("starts-not", "registry.k8s.io/no/such:1", "exit 0"))
	s.eventually("all pods are where they stay", func() error {
		all := s.statuses()
		starting := all["starts-not"]
		switch {
		case all["runs"].Phase != v1.PodRunning, all["ended"].Phase != v1.PodSucceeded, all["failed"].Phase != v1.PodFailed,
			len(starting.ContainerStatuses) == 0 || starting.ContainerStatuses[0].State.Waiting.Reason == "ContainerCreating":
			return fmt.Errorf("they are %+v", all)
		}
		return nil
	})
	before := s.statuses()
	s.kill()
	time.Sleep(passes)
	if diff := cmp.Diff(lasting(before), lasting(s.statuses())); diff != "" {
		t.Errorf("statuses before and after (-before +after):\n%s", diff)
	}
}

// lasting returns the part of statuses that does not change. An image is pulled again now and then.
// A kubelet drops the address of a pod that has ended and reports another memory limit.
func lasting(all map[string]v1.PodStatus) map[string]v1.PodStatus {
	for name, st := range all {
		for i := range st.ContainerStatuses {
			if w := st.ContainerStatuses[i].State.Waiting; w != nil {
				w.Reason, w.Message = "", ""
			}
			if *kubelet {
				st.ContainerStatuses[i].Resources = nil
			}
		}
		if *kubelet {
			st.Resources = nil
			if st.Phase == v1.PodSucceeded || st.Phase == v1.PodFailed {
				st.PodIP, st.PodIPs = "", nil
			}
		}
		all[name] = st
	}
	return all
}

// The runtime enforces strict supplemental groups.
func TestPod_strictGroups(t *testing.T) {
	s := newSpace(t)
	s.apply(pod("strict", busybox, "id -G; "+endless,
		"  securityContext: {supplementalGroupsPolicy: Strict, supplementalGroups: [60000], runAsUser: 1000, runAsGroup: 1000}"))
	s.eventually("the container says its groups", func() error {
		out, err := s.try("", "logs", "strict")
		if err == nil && out != "1000 60000\n" {
			err = fmt.Errorf("%q", out)
		}
		return err
	})
	if got := s.kubectl("get", "node", cluster.Env["NODE_NAME"], "-o", "jsonpath={.status.features.supplementalGroupsPolicy}"); got != "true" {
		t.Errorf("the node says %q of it", got)
	}
}

// A mirror pod without a static pod on the node is gone once it is deleted: the node has nothing of
// it.
func TestPod_mirrorIsDeleted(t *testing.T) {
	s := newSpace(t)
	mirror := pod("mirror", busybox, endless, "  nodeName: "+cluster.Env["NODE_NAME"])
	s.apply(strings.Replace(mirror, "{name: mirror}", "{name: mirror, annotations: {kubernetes.io/config.mirror: abc}}", 1))
	s.kubectl("delete", "pod", "mirror", "--timeout=30s", "--ignore-not-found")
	s.waitCount(0)
}
