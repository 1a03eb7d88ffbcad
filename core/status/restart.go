package status

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// Restartable reports whether a container of p that exited with exitCode may run again. The
// container's own rules decide first, then its own policy, then the pod's policy.
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

// RestartPolicy returns the restart policy of a container of p: its own if it has one, else the
// pod's.
func RestartPolicy(p *v1.Pod, c *v1.Container) v1.RestartPolicy {
	if c.RestartPolicy != nil {
		return v1.RestartPolicy(*c.RestartPolicy)
	}
	return p.Spec.RestartPolicy
}

// RunsInNewSandbox reports whether a regular container of p that exited with exitCode runs again
// when the pod gets a new sandbox. As with a kubelet, only the policy OnFailure prevents that, if
// the container has succeeded. Rules and the policy Never are ignored.
func RunsInNewSandbox(p *v1.Pod, c *v1.Container, exitCode int32) bool {
	return exitCode != 0 || RestartPolicy(p, c) != v1.RestartPolicyOnFailure
}

// matchingRule returns the first restart rule of c that matches exitCode, nil for none. All rule
// actions restart the container.
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

// ShouldStart reports whether a regular container of p has to be started. newest is its newest
// instance, nil for none. In a pod that is being deleted no container is started.
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

// NeedsSandbox reports whether p cannot run in its sandboxes; see SandboxFault.
func NeedsSandbox(p *v1.Pod, o *ObservedPod) bool { return SandboxFault(p, o) != "" }

// SandboxFault returns why p cannot run in its sandboxes, "" if it can. Reasons are: there is no
// sandbox, the newest one is not the only ready one, has the wrong network or no address, or was
// made for a pod of another name. The last happens if an earlier pod had p's UID and its sandbox
// was made late.
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
