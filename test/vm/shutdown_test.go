//go:build vm

package vm

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
)

// TestPods_terminateBeforeAShutdown: systemd-logind delays a shutdown of the machine until pods have
// terminated with their hooks, the critical ones last, and they run again after the boot.
func TestPods_terminateBeforeAShutdown(t *testing.T) {
	m := newMachine(t, `#shutdown_grace_period = "0s"`, `shutdown_grace_period = "120s"`, `#shutdown_grace_period_critical_pods = "0s"`, `shutdown_grace_period_critical_pods = "60s"`)
	const slowly = "lifecycle: {preStop: {sleep: {seconds: 3}}}"
	m.manifest(t, "web", strings.Replace(podManifest("web", "sleep", slowly), "terminationGracePeriodSeconds: 1", "terminationGracePeriodSeconds: 60", 1))
	m.manifest(t, "dns", strings.Replace(podManifest("dns", "sleep", slowly), "terminationGracePeriodSeconds: 1", "priorityClassName: system-node-critical\n  terminationGracePeriodSeconds: 60", 1))
	m.running(t, "web", "dns")
	m.eventually(t, "the agent's delay lock", "systemd-inhibit --list --no-pager; busctl get-property org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager InhibitDelayMaxUSec", func(output string) error {
		if !strings.Contains(output, "wardlet") || !strings.Contains(output, "t 120000000") {
			return fmt.Errorf("%q", output)
		}
		return nil
	})
	m.reboot(t)
	pods := m.wait(t, "the pods after the shutdown", func(pods map[string]*v1.Pod) error {
		for _, name := range []string{"web", "dns"} {
			p := pods[name]
			if p == nil || p.Status.Phase != v1.PodRunning || p.Status.ContainerStatuses[0].RestartCount != 1 || !p.Status.ContainerStatuses[0].Ready {
				return fmt.Errorf("pod %s: %+v", name, p)
			}
		}
		return nil
	})
	ended := map[string]*v1.ContainerStateTerminated{}
	for name, p := range pods {
		ended[name] = p.Status.ContainerStatuses[0].LastTerminationState.Terminated
		if ended[name] == nil || ended[name].ExitCode != 0 {
			t.Errorf("pod %s ended before the boot with %+v, want exit code 0", name, ended[name])
		}
	}
	if web, dns := ended["web"], ended["dns"]; web != nil && dns != nil && !web.FinishedAt.Before(&dns.FinishedAt) {
		t.Errorf("web ended at %s, and the critical dns at %s", web.FinishedAt, dns.FinishedAt)
	}
	if log := m.run(t, "journalctl -b -1 -u wardlet --no-pager -o cat"); !strings.Contains(log, "the machine may shut down now") {
		t.Errorf("the log of the agent before the boot:\n%s", log)
	}
}
