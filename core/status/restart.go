package status

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// Restartable reports whether a container of p that ended with exitCode may
// run again: by the container's own rules, then its own policy, then the
// pod's.
func Restartable(p *v1.Pod, c *v1.Container, exitCode int32) bool {
	if matchingRule(c, exitCode) != nil {
		return true
	}
	switch RestartPolicy(p, c) {
	case v1.RestartPolicyNever:
		return false
	case v1.RestartPolicyOnFailure:
		return exitCode != 0
	default:
		return true
	}
}

// RestartPolicy returns the policy of a container of p: its own, else the pod's.
func RestartPolicy(p *v1.Pod, c *v1.Container) v1.RestartPolicy {
	if c.RestartPolicy != nil {
		return v1.RestartPolicy(*c.RestartPolicy)
	}
	return p.Spec.RestartPolicy
}

// RunsInNewSandbox reports whether a regular container of p that ended with exitCode runs again when the pod gets a new
// sandbox. As with a kubelet, only a policy OnFailure keeps one that has succeeded from it: rules and Never do not count.
func RunsInNewSandbox(p *v1.Pod, c *v1.Container, exitCode int32) bool {
	return exitCode != 0 || RestartPolicy(p, c) != v1.RestartPolicyOnFailure
}

// matchingRule returns the first restart rule of c that matches exitCode, nil for none. All actions of rules start the
// container again.
func matchingRule(c *v1.Container, exitCode int32) *v1.ContainerRestartRule {
	for i := range c.RestartPolicyRules {
		rule := &c.RestartPolicyRules[i]
		if rule.ExitCodes == nil {
			continue
		}
		named := slices.Contains(rule.ExitCodes.Values, exitCode)
		switch rule.ExitCodes.Operator {
		case v1.ContainerRestartRuleOnExitCodesOpIn:
			if named {
				return rule
			}
		case v1.ContainerRestartRuleOnExitCodesOpNotIn:
			if !named {
				return rule
			}
		}
	}
	return nil
}

// ShouldStart reports whether a regular container of p is to be started.
// newest is its newest instance, nil if it has none. A pod that is being
// deleted starts nothing.
func ShouldStart(p *v1.Pod, c *v1.Container, newest *ObservedContainer) bool {
	switch {
	case p.DeletionTimestamp != nil:
		return false
	case newest == nil:
		return true
	case newest.State == StateRunning:
		return false
	case newest.State == StateExited:
		return Restartable(p, c, newest.ExitCode)
	default: // created, or lost by the runtime
		return true
	}
}

// NeedsSandbox reports whether p cannot run in the sandboxes it has, see
// SandboxFault.
func NeedsSandbox(p *v1.Pod, o *ObservedPod) bool { return SandboxFault(p, o) != "" }

// SandboxFault returns why p cannot run in the sandboxes it has: there is
// none, the newest is not the one that is ready, it has the wrong network, no
// address, or was made for a pod of another name: one that had p's UID before it,
// and whose sandbox came late. It returns "" where p can.
func SandboxFault(p *v1.Pod, o *ObservedPod) string {
	if len(o.Sandboxes) == 0 {
		return "the pod has no sandbox"
	}
	ready := 0
	for i := range o.Sandboxes {
		if o.Sandboxes[i].Ready {
			ready++
		}
	}
	newest := &o.Sandboxes[0]
	switch name, ok := newest.Labels[pod.LabelPodName]; {
	case !newest.Ready:
		return "the pod's sandbox is not ready any more"
	case ready > 1:
		return "the pod has more than one sandbox that is ready"
	case ok && name != p.Name:
		return "the pod's sandbox was made for a pod of another name"
	case newest.HostNetwork && !p.Spec.HostNetwork:
		return "the pod's sandbox is on the host's network, and the pod is not to be"
	case !newest.HostNetwork && p.Spec.HostNetwork:
		return "the pod's sandbox is not on the host's network, and the pod is to be"
	case !p.Spec.HostNetwork && len(newest.IPs) == 0:
		return "the pod's sandbox has no address"
	}
	return ""
}
