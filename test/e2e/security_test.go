//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// process returns the ID of a container's first process.
func (n node) process(t *testing.T, p v1.Pod) int {
	t.Helper()
	answer, err := n.CRI.ContainerStatus(t.Context(), &criapi.ContainerStatusRequest{
		ContainerId: strings.TrimPrefix(container(p), "containerd://"), Verbose: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	var info struct {
		PID int `json:"pid"`
	}
	if err := json.Unmarshal([]byte(answer.GetInfo()["info"]), &info); err != nil || info.PID == 0 {
		t.Fatalf("no process of %s: %v", container(p), err)
	}
	return info.PID
}

// rejected waits until a pod is rejected for a reason.
func (a *agent) rejected(t *testing.T, name, reason, message string) {
	t.Helper()
	eventually(t, "pod "+name+" is rejected", func(ctx context.Context) error {
		pods, err := a.pods(ctx)
		if err != nil {
			return err
		}
		st := pods[name+"-"+a.name].Status
		if st.Reason != reason || !strings.Contains(st.Message, message) {
			return fmt.Errorf("phase %q, reason %q, message %q", st.Phase, st.Reason, st.Message)
		}
		return nil
	})
}

func TestSysctlsAreThePodsOwn(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "tuned")
	a.write(t, a.ConfigFile(), strings.Replace(a.read(t, "agent.toml"), "[runtime]\n", "[runtime]\nallowed_unsafe_sysctls = ['kernel.msg*']\n", 1))
	a.start(t)
	sysctls := func(pod, lines string) string {
		return strings.Replace(pod, "spec:\n", "spec:\n  securityContext:\n    sysctls:\n"+lines, 1)
	}
	a.manifest(t, "own.yaml", sysctls(webPod("own"), "    - {name: net/ipv4/ip_unprivileged_port_start, value: '77'}\n    - {name: kernel.msgmax, value: '4711'}\n"))
	a.manifest(t, "unsafe.yaml", sysctls(webPod("unsafe"), "    - {name: net.core.somaxconn, value: '77'}\n"))
	a.rejected(t, "unsafe", "SysctlForbidden", `forbidden sysctl: "net.core.somaxconn" not allowlisted`)
	p := a.running(t, "own")["own"]

	out, err := exec.Command("nsenter", "--target", strconv.Itoa(n.process(t, p)), "--net", "--ipc",
		"cat", "/proc/sys/net/ipv4/ip_unprivileged_port_start", "/proc/sys/kernel/msgmax").CombinedOutput()
	if err != nil || string(out) != "77\n4711\n" {
		t.Errorf("in the pod's namespaces: %v\n%s", err, out)
	}
	if mine, err := os.ReadFile("/proc/sys/kernel/msgmax"); err != nil || string(mine) == "4711\n" {
		t.Errorf("the node's own kernel.msgmax is %q: %v", mine, err)
	}
	a.remove(t, "own.yaml", "unsafe.yaml")
	a.nothingLeft(t, n)
}

func TestAnEditGetsNothingThatTheNodeRefusesAlsoOverARestart(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "edited")
	a.start(t)
	version := func(more string) string {
		return strings.Replace(strings.Replace(webPod("fixed"), "metadata:\n", "metadata:\n  uid: 3b1f2d9e-6a51-4f0f-9a3b-5d0c1c7f1a2c\n", 1),
			"spec:\n", "spec:\n"+more, 1)
	}
	a.manifest(t, "fixed.yaml", version(""))
	first := a.running(t, "fixed")["fixed"]
	a.manifest(t, "fixed.yaml", version("  activeDeadlineSeconds: 4000\n  securityContext: {sysctls: [{name: net.core.somaxconn, value: '77'}]}\n"))
	a.says(t, "get updates", "fixed-edited", "Denied", "SysctlForbidden")
	a.says(t, "get pods", `forbidden sysctl: "net.core.somaxconn" not allowlisted`)
	a.kill()
	a.start(t)
	a.says(t, "get updates", "fixed-edited", "Denied", "SysctlForbidden")
	a.says(t, "get pods", `forbidden sysctl: "net.core.somaxconn" not allowlisted`)
	again := a.pod(t, "fixed", func(p *v1.Pod) error {
		if p.Spec.ActiveDeadlineSeconds != nil || !ready(*p) {
			return fmt.Errorf("deadline %v, phase %s", p.Spec.ActiveDeadlineSeconds, p.Status.Phase)
		}
		return nil
	})
	if container(again) != container(first) || again.Status.ContainerStatuses[0].RestartCount != 0 {
		t.Errorf("container %s, then %s", container(first), container(again))
	}
	a.manifest(t, "fixed.yaml", version("  activeDeadlineSeconds: 4000\n"))
	a.pod(t, "fixed", func(p *v1.Pod) error {
		if p.Spec.ActiveDeadlineSeconds == nil {
			return errors.New("the edit without the sysctl has not taken effect")
		}
		for _, c := range p.Status.Conditions {
			if c.Type == "wardlet.dev/UpdateAdmitted" && c.Status == v1.ConditionFalse {
				return errors.New("an update waits still: " + c.Message)
			}
		}
		return nil
	})
	a.remove(t, "fixed.yaml")
	a.nothingLeft(t, n)
}

// On a kernel without AppArmor a profile cannot be enforced, and the pod does not
// run. On a kernel with AppArmor the container has the profile.
func TestAnAppArmorProfileIsEnforcedOrThePodDoesNotRun(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "armor")
	a.start(t)
	a.manifest(t, "web.yaml", hostPod("web", "sleep")+"  securityContext: {appArmorProfile: {type: RuntimeDefault}}\n")
	a.manifest(t, "free.yaml", hostPod("free", "sleep")+"  securityContext: {appArmorProfile: {type: Unconfined}}\n")
	a.running(t, "free")
	on, err := os.ReadFile("/sys/module/apparmor/parameters/enabled")
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && !strings.HasPrefix(string(on), "Y"):
		a.rejected(t, "web", "AppArmor", "Cannot enforce AppArmor: AppArmor is not enabled on the host")
	case err != nil:
		t.Fatal(err)
	default:
		p := a.running(t, "web")["web"]
		profile, err := os.ReadFile(fmt.Sprintf("/proc/%d/attr/current", n.process(t, p)))
		if err != nil || !strings.Contains(string(profile), "(enforce)") {
			t.Errorf("its profile is %q: %v", profile, err)
		}
	}
	a.remove(t, "web.yaml", "free.yaml")
	a.nothingLeft(t, n)
}
