package status

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/pod"
)

func TestRestartable(t *testing.T) {
	t.Parallel()
	rule := func(op v1.ContainerRestartRuleOnExitCodesOperator, codes ...int32) []v1.ContainerRestartRule {
		return []v1.ContainerRestartRule{{
			Action:    v1.ContainerRestartRuleActionRestart,
			ExitCodes: &v1.ContainerRestartRuleOnExitCodes{Operator: op, Values: codes},
		}}
	}
	const in, notIn = v1.ContainerRestartRuleOnExitCodesOpIn, v1.ContainerRestartRuleOnExitCodesOpNotIn
	always, never := v1.ContainerRestartPolicyAlways, v1.ContainerRestartPolicyNever
	tests := []struct {
		name string
		pod  v1.RestartPolicy
		c    v1.Container
		exit int32
		want bool
	}{
		{"always restarts what ended well", v1.RestartPolicyAlways, v1.Container{}, 0, true},
		{"no policy is always", "", v1.Container{}, 0, true},
		{"never restarts nothing", v1.RestartPolicyNever, v1.Container{}, 1, false},
		{"on failure restarts a failure", v1.RestartPolicyOnFailure, v1.Container{}, 1, true},
		{"on failure leaves what ended well", v1.RestartPolicyOnFailure, v1.Container{}, 0, false},
		{"the container's policy goes before the pod's", v1.RestartPolicyAlways, v1.Container{RestartPolicy: &never}, 1, false},
		{"and the other way round", v1.RestartPolicyNever, v1.Container{RestartPolicy: &always}, 0, true},
		{"a rule that matches goes before policies", v1.RestartPolicyNever, v1.Container{RestartPolicyRules: rule(in, 3, 42)}, 42, true},
		{"a rule that does not match leaves it to them", v1.RestartPolicyNever, v1.Container{RestartPolicyRules: rule(in, 42)}, 41, false},
		{"a rule by exclusion matches all others", v1.RestartPolicyNever, v1.Container{RestartPolicyRules: rule(notIn, 42)}, 41, true},
		{"a rule by exclusion does not match its own", v1.RestartPolicyNever, v1.Container{RestartPolicyRules: rule(notIn, 42)}, 42, false},
		{"a rule without exit codes matches nothing", v1.RestartPolicyNever, v1.Container{RestartPolicyRules: make([]v1.ContainerRestartRule, 1)}, 1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := Restartable(testPod(tt.pod, ""), &tt.c, tt.exit); got != tt.want {
				t.Errorf("Restartable = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestShouldStart(t *testing.T) {
	t.Parallel()
	at := func(s ContainerState, exit int32) *ObservedContainer { return new(instance("a", 0, s, exit)) }
	tests := []struct {
		name     string
		newest   *ObservedContainer
		deleting bool
		want     bool
	}{
		{"what was never made starts", nil, false, true},
		{"what runs does not", at(StateRunning, 0), false, false},
		{"what was made but not started starts", at(StateCreated, 0), false, true},
		{"what the runtime lost starts", at(StateUnknown, 0), false, true},
		{"what failed starts, by policy", at(StateExited, 1), false, true},
		{"what ended well does not, by policy", at(StateExited, 0), false, false},
		{"nothing starts in a pod that is being deleted", nil, true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := testPod(v1.RestartPolicyOnFailure, "", "a")
			if tt.deleting {
				p.DeletionTimestamp = new(metav1.NewTime(noon))
			}
			if got := ShouldStart(p, &p.Spec.Containers[0], tt.newest); got != tt.want {
				t.Errorf("ShouldStart = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestNeedsSandbox(t *testing.T) {
	t.Parallel()
	ready := ObservedSandbox{ID: "s", Ready: true, IPs: []string{"10.0.0.1"}}
	dead := ObservedSandbox{ID: "d"}
	hostNet := ObservedSandbox{ID: "h", Ready: true, HostNetwork: true}
	noIP := ObservedSandbox{ID: "n", Ready: true}
	of := func(name string) ObservedSandbox {
		return ObservedSandbox{ID: "s", Ready: true, IPs: []string{"10.0.0.1"}, Labels: map[string]string{pod.LabelPodName: name}}
	}
	tests := []struct {
		name        string
		sandboxes   []ObservedSandbox
		hostNetwork bool
		want        bool
	}{
		{"none", nil, false, true},
		{"one that is ready will do", []ObservedSandbox{ready}, false, false},
		{"a new one that is ready after a dead one will do", []ObservedSandbox{ready, dead}, false, false},
		{"the newest is dead", []ObservedSandbox{dead, ready}, false, true},
		{"two are ready", []ObservedSandbox{ready, ready}, false, true},
		{"it has no address", []ObservedSandbox{noIP}, false, true},
		{"on the node's network it needs none", []ObservedSandbox{hostNet}, true, false},
		{"it was made for the pod", []ObservedSandbox{of("web")}, false, false},
		{"it was made for a pod of another name that had the UID", []ObservedSandbox{of("former")}, false, true},
		{"the pod has moved to the node's network", []ObservedSandbox{ready}, true, true},
		{"the pod has left the node's network", []ObservedSandbox{hostNet}, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := testPod(v1.RestartPolicyAlways, "", "a")
			p.Spec.HostNetwork = tt.hostNetwork
			if got := NeedsSandbox(p, &ObservedPod{Sandboxes: tt.sandboxes}); got != tt.want {
				t.Errorf("NeedsSandbox = %v, want %v", got, tt.want)
			}
		})
	}
}
