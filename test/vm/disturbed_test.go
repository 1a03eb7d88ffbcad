//go:build vm

package vm

import (
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
)

// TestPods_onADisturbedNode: what runs goes on, and what is new starts, while the clock of the node
// steps by years, when D-Bus is there again, and when the disk is full no more.
func TestPods_onADisturbedNode(t *testing.T) {
	var changes []string
	for _, signal := range []string{"nodefs.available", "nodefs.inodesFree", "imagefs.available", "imagefs.inodesFree"} {
		value := map[string]string{"nodefs.available": "10%", "imagefs.available": "15%"}[signal]
		if value == "" {
			value = "5%"
		}
		changes = append(changes, fmt.Sprintf("#%q = %q", signal, value), fmt.Sprintf("%q = \"0%%\"", signal)) // a full disk evicts nothing
	}
	m := newMachine(t, changes...)
	const probed = "livenessProbe: {exec: {command: [/testbox, echo]}, periodSeconds: 2, timeoutSeconds: 30, failureThreshold: 10}"
	m.manifest(t, "first", podManifest("first", "sleep", probed))
	first := m.running(t, "first")["first"]
	agent := m.run(t, "systemctl show -P MainPID wardlet")
	same := func(when string) {
		t.Helper()
		p := m.running(t, "first")["first"]
		if p.UID != first.UID || p.Status.ContainerStatuses[0].ContainerID != first.Status.ContainerStatuses[0].ContainerID {
			t.Errorf("%s the pod was restarted: %+v", when, p.Status.ContainerStatuses[0])
		}
		if now := m.run(t, "systemctl show -P MainPID wardlet"); now != agent {
			t.Errorf("%s the agent was restarted: %s, before %s", when, now, agent)
		}
	}
	for i, step := range []string{"+10 years", "-20 years", "+10 years"} {
		m.run(t, "date -s '"+step+"'")
		name := fmt.Sprint("step", i)
		m.manifest(t, name, podManifest(name, "sleep"))
		m.running(t, name)
		time.Sleep(15 * time.Second) // for probes and all periods of the agent that are shorter
		same("after a step of " + step)
	}

	m.run(t, "systemctl stop dbus.socket dbus.service")
	m.manifest(t, "nobus", podManifest("nobus", "sleep"))
	time.Sleep(20 * time.Second)
	same("without D-Bus")
	m.run(t, "systemctl start dbus.socket dbus.service")
	m.running(t, "nobus")
	same("after D-Bus was gone")

	m.run(t, "rm /etc/wardlet/manifests/step*")
	only := func(what string, names ...string) {
		t.Helper()
		m.wait(t, what, func(pods map[string]*v1.Pod) error {
			if len(pods) != len(names) {
				return fmt.Errorf("%d pods, want those of %v", len(pods), names)
			}
			return nil
		})
	}
	only("the end of the pods of steps", "first", "nobus")
	m.run(t, "dd if=/dev/zero of=/filler bs=1M 2>/dev/null; sync; dd if=/dev/zero of=/filler2 bs=4k 2>/dev/null; true")
	if free := strings.TrimSpace(m.run(t, "df --output=avail / | tail -n 1")); free != "0" {
		t.Fatalf("the disk has %s KiB", free)
	}
	m.put(t, "late.yaml", podManifest("late", "sleep"), 0o644)
	// A longer time without space would take much longer here: containerd doubles its pauses between attempts.
	m.run(t, "rm /etc/wardlet/manifests/nobus*; ln -s /host/late.yaml /etc/wardlet/manifests/late.yaml")
	time.Sleep(20 * time.Second)
	same("on a full disk")
	m.run(t, "rm /filler /filler2")
	m.running(t, "late")
	same("after the disk was full")
	only("the end of a pod on a full disk", "first", "late")
}
