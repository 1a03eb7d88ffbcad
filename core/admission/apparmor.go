package admission

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// reasonAppArmor is the reason for refusing a pod whose AppArmor profiles the
// node cannot enforce.
const reasonAppArmor = "AppArmor"

// AppArmor returns a handler that refuses pods with AppArmor profiles if the kernel enforces none
// at the time of this call, and pods whose profiles have no name. root is "/". Pods that are past
// Pending are not checked again.
func AppArmor(root string) Handler { return appArmor{enabled: enforces(root)} }

type appArmor struct{ enabled bool }

// Admit implements Handler.
func (h appArmor) Admit(a *Attributes) Result {
	if a.Pod.Status.Phase != v1.PodPending || !pod.NeedsAppArmor(a.Pod) {
		return Result{Admitted: true}
	}
	if !h.enabled {
		return unenforceable("AppArmor is not enabled on the host")
	}
	for c := range pod.Containers(a.Pod) {
		p := pod.AppArmorProfile(a.Pod, c)
		if p == nil || p.Type != v1.AppArmorProfileTypeLocalhost {
			continue
		}
		if p.LocalhostProfile == nil || strings.TrimSpace(*p.LocalhostProfile) == "" {
			return unenforceable(fmt.Sprintf("invalid empty AppArmor profile name: %q", p))
		}
	}
	return Result{Admitted: true}
}

func unenforceable(why string) Result {
	return Result{Reason: reasonAppArmor, Message: "Cannot enforce AppArmor: " + why}
}

// enforces reports whether the kernel has AppArmor and AppArmor is enabled.
func enforces(root string) bool {
	if _, err := os.Stat(filepath.Join(root, "sys/kernel/security/apparmor")); err != nil {
		return false
	}
	on, err := os.ReadFile(filepath.Join(root, "sys/module/apparmor/parameters/enabled"))
	return err == nil && strings.HasPrefix(string(on), "Y")
}
