//go:build vm

package vm

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
)

// TestPods_withAppArmor: the kernel applies the profile that a pod names, the runtime's default to
// pods that name none, and a pod with a profile that is not loaded does not start.
func TestPods_withAppArmor(t *testing.T) {
	m := newMachine(t)
	m.run(t, `cat >/etc/apparmor.d/vm-test <<'P'
profile vm-test flags=(attach_disconnected,mediate_deleted) {
  network,
  capability,
  file,
  umount,
  deny /tmp/** w,
}
P
apparmor_parser -r /etc/apparmor.d/vm-test`)
	profile := func(text string) string { return "securityContext: {appArmorProfile: {" + text + "}}" }
	m.manifest(t, "named", podManifest("named", "sleep", profile("type: Localhost, localhostProfile: vm-test")))
	m.manifest(t, "default", podManifest("default", "sleep", profile("type: RuntimeDefault")))
	m.manifest(t, "unsaid", podManifest("unsaid", "sleep"))
	m.manifest(t, "none", podManifest("none", "sleep", profile("type: Unconfined")))
	m.manifest(t, "missing", podManifest("missing", "sleep", profile("type: Localhost, localhostProfile: not-loaded")))
	want := map[string]string{
		"named": "vm-test (enforce)", "default": "cri-containerd.apparmor.d (enforce)", "unsaid": "cri-containerd.apparmor.d (enforce)", "none": "unconfined",
	}
	for name, p := range m.running(t, "named", "default", "unsaid", "none") {
		if want[name] == "" {
			continue
		}
		id := strings.TrimPrefix(p.Status.ContainerStatuses[0].ContainerID, "containerd://")
		got := strings.TrimSpace(m.run(t, `cat /proc/$(ctr -n k8s.io task ls | awk '$1=="`+id+`"{print $2}')/attr/current`))
		if got != want[name] {
			t.Errorf("pod %s has the profile %q, want %q", name, got, want[name])
		}
	}
	m.wait(t, "a pod whose profile is not loaded", func(pods map[string]*v1.Pod) error {
		p := pods["missing"]
		if p == nil || len(p.Status.ContainerStatuses) == 0 || p.Status.ContainerStatuses[0].State.Waiting == nil {
			return fmt.Errorf("it does not wait: %+v", p)
		}
		if w := p.Status.ContainerStatuses[0].State.Waiting; !strings.Contains(w.Message, "not-loaded") {
			return fmt.Errorf("%s: %s", w.Reason, w.Message)
		}
		return nil
	})
}
