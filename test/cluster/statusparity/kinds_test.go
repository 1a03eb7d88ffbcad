//go:build e2e

package statusparity

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// fate is what happens to a pod with containers of all kinds.
type fate string

const (
	// goesWell: its main container runs, or exits by itself.
	goesWell fate = "goes well"
	// initFails: its first init container exits with 3.
	initFails fate = "init fails"
	// sidecarEnds: its sidecar exits again and again.
	sidecarEnds fate = "sidecar ends"
	// dies: the liveness probe of its first instance fails after a while. neverStarts: the startup
	// probe fails.
	dies        fate = "dies"
	neverStarts fate = "never starts"
	// hookFails: its postStart hook fails.
	hookFails fate = "hook fails"
	// hasRule: it may start again only by a rule about its exit code.
	hasRule fate = "has a rule"
)

// The names of containers in pods with all kinds. Init containers are named ini and a number.
const (
	mainName    = "main"
	sidecarName = "sidecar"
	debugName   = "debug"
	firstInit   = "ini0"
)

// ruled is the exit code after which a rule lets a container start again.
const ruled = 42

// makeKindsLife makes a pod with containers of all kinds, probes and hooks.
func makeKindsLife(r *rand.Rand, name string) *life {
	l := &life{outcomes: map[string]outcome{}, codes: map[string]int{}, fate: one(r, goesWell, goesWell, goesWell, initFails, sidecarEnds, dies, neverStarts, hookFails, hasRule)}
	l.pod = &v1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1.PodSpec{
			RestartPolicy:                 one(r, v1.RestartPolicyAlways, v1.RestartPolicyOnFailure, v1.RestartPolicyNever),
			TerminationGracePeriodSeconds: new(one[int64](r, 2, 3)), AutomountServiceAccountToken: new(false), HostNetwork: r.IntN(5) == 0,
		},
	}
	l.rounds, l.after = 1, time.Duration(700+r.IntN(300))*time.Millisecond
	l.grace = one(r, nil, nil, new(int64(1)), new(int64(2)))
	l.addInits(r)
	l.addMain(r)
	if l.fate == goesWell && l.outcomes[mainName] == runs && r.IntN(2) == 0 {
		l.debug, l.outcomes[debugName], l.codes[debugName] = true, one(r, exits, runs), one(r, 0, 3)
	}
	return l
}

// addInits adds init containers, and a sidecar before, between or after them.
func (l *life) addInits(r *rand.Rand) {
	n, sidecar := one(r, 0, 1, 2), r.IntN(2) == 0 || l.fate == sidecarEnds
	if l.fate == initFails {
		n = max(n, 1)
	}
	at := r.IntN(n + 1)
	for i := range n + 1 {
		if sidecar && i == at {
			l.addSidecar(r)
		}
		if i == n {
			break
		}
		name := fmt.Sprintf("ini%d", i)
		l.outcomes[name] = exits
		if l.fate == initFails && name == firstInit {
			l.codes[name] = 3
		}
		l.pod.Spec.InitContainers = append(l.pod.Spec.InitContainers, shell(name, fmt.Sprintf("sleep 1.3 & wait $!\nexit %d", l.codes[name])))
	}
}

func (l *life) addSidecar(r *rand.Rand) {
	l.outcomes[sidecarName] = runs
	c := shell(sidecarName, "touch /tmp/up\nwhile :; do sleep 30 & wait $!; done")
	switch {
	case l.fate == sidecarEnds:
		l.outcomes[sidecarName], l.codes[sidecarName] = exits, one(r, 0, 5)
		c = shell(sidecarName, fmt.Sprintf("sleep 3.6 & wait $!\nexit %d", l.codes[sidecarName]))
	case r.IntN(3) == 0:
		c = shell(sidecarName, "sleep 1.5 & wait $!\ntouch /tmp/up\nwhile :; do sleep 30 & wait $!; done")
		c.StartupProbe = finds("test -e /tmp/up", 30)
	case r.IntN(2) == 0:
		c.ReadinessProbe = finds("test -e /tmp/up", 3)
	}
	c.RestartPolicy = new(v1.ContainerRestartPolicyAlways)
	l.pod.Spec.InitContainers = append(l.pod.Spec.InitContainers, c)
}

func (l *life) addMain(r *rand.Rand) {
	l.outcomes[mainName] = runs
	if l.fate == hasRule || l.fate == goesWell && r.IntN(3) == 0 {
		l.outcomes[mainName], l.codes[mainName] = exits, one(r, 0, 1)
	}
	begin, end := "", "while :; do sleep 30 & wait $!; done"
	if l.outcomes[mainName] == exits {
		if l.fate == hasRule {
			l.codes[mainName] = one(r, 1, ruled)
		}
		end = fmt.Sprintf("sleep 2.6 & wait $!\nexit %d", l.codes[mainName])
	} else {
		begin = "(sleep 2.3; touch /tmp/ready) &\n"
		if l.fate == dies || l.fate == neverStarts { // only once: further failures would happen at random
			begin = "test -e /once/more && touch /tmp/up || (sleep 2.3; touch /tmp/ready) &\nsleep 0.1\ntouch /once/more\n"
			l.pod.Spec.Volumes = []v1.Volume{{Name: "once", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}}}
		}
	}
	if r.IntN(4) == 0 {
		begin = "trap '' TERM\n" + begin
	}
	c := shell(mainName, begin+end)
	if l.outcomes[mainName] == runs && l.fate == goesWell && r.IntN(2) == 0 {
		c.ReadinessProbe = finds("test -e /tmp/ready", 1)
		if r.IntN(2) == 0 {
			c.StartupProbe = finds("test -e /tmp/ready", 30)
		}
	}
	if r.IntN(3) == 0 {
		c.Lifecycle = &v1.Lifecycle{PreStop: does(one(r, "sleep 1", "exit 1"))}
	}
	switch l.fate {
	case dies:
		c.VolumeMounts = []v1.VolumeMount{{Name: "once", MountPath: "/once"}}
		c.LivenessProbe = finds("test ! -e /tmp/ready", 2)
	case neverStarts:
		c.VolumeMounts = []v1.VolumeMount{{Name: "once", MountPath: "/once"}}
		c.StartupProbe = finds("test -e /tmp/up", 3)
	case hookFails:
		c.Lifecycle = &v1.Lifecycle{PostStart: does("sleep 1.2; exit 1")}
	case hasRule:
		c.RestartPolicy = new(v1.ContainerRestartPolicyNever)
		c.RestartPolicyRules = []v1.ContainerRestartRule{{Action: v1.ContainerRestartRuleActionRestart, ExitCodes: &v1.ContainerRestartRuleOnExitCodes{
			Operator: v1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{ruled},
		}}}
	case goesWell:
		if c.Lifecycle == nil && r.IntN(3) == 0 {
			c.Lifecycle = &v1.Lifecycle{PostStart: does("sleep 1.2; touch /tmp/hooked")}
			if l.outcomes[mainName] == exits { // a hook fails if its container has exited
				c.Command[2] = strings.Replace(c.Command[2], "sleep 2.6", "until test -e /tmp/hooked; do sleep 0.1; done; sleep 2.6", 1)
			}
		}
	}
	l.pod.Spec.Containers = append(l.pod.Spec.Containers, c)
}

func shell(name, script string) v1.Container {
	return v1.Container{
		Name: name, Image: busybox, ImagePullPolicy: v1.PullIfNotPresent, Command: []string{"sh", "-c", "trap 'exit 9' TERM\n" + script},
	}
}

func finds(command string, failures int32) *v1.Probe {
	return &v1.Probe{
		ProbeHandler:  v1.ProbeHandler{Exec: &v1.ExecAction{Command: []string{"sh", "-c", command}}},
		PeriodSeconds: 1, TimeoutSeconds: 5, SuccessThreshold: 1, FailureThreshold: failures,
	}
}

func does(command string) *v1.LifecycleHandler {
	return &v1.LifecycleHandler{Exec: &v1.ExecAction{Command: []string{"sh", "-c", command}}}
}

// debugContainer returns the ephemeral container that is added to a running pod.
func (l *life) debugContainer() v1.EphemeralContainer {
	script := "while :; do sleep 30 & wait $!; done"
	if l.outcomes[debugName] == exits {
		script = fmt.Sprintf("sleep 1.3 & wait $!\nexit %d", l.codes[debugName])
	}
	c := shell(debugName, script)
	return v1.EphemeralContainer{EphemeralContainerCommon: v1.EphemeralContainerCommon{
		Name: c.Name, Image: c.Image, ImagePullPolicy: c.ImagePullPolicy, Command: c.Command,
	}}
}

// debugged reports whether the ephemeral container has reached its outcome.
func (l *life) debugged(st *v1.PodStatus) bool {
	c := pod.ContainerStatus(st, debugName)
	if c == nil {
		return false
	}
	if l.outcomes[debugName] == runs {
		return c.State.Running != nil
	}
	return c.State.Terminated != nil
}

// kindsRestart is restarts for a pod with containers of all kinds.
func (l *life) kindsRestart(name string) bool {
	again := l.pod.Spec.RestartPolicy == v1.RestartPolicyAlways || l.pod.Spec.RestartPolicy == v1.RestartPolicyOnFailure && l.codes[name] != 0
	switch {
	case name == sidecarName:
		return true
	case name == debugName:
		return false
	case strings.HasPrefix(name, "ini"):
		return l.codes[name] != 0 && l.pod.Spec.RestartPolicy != v1.RestartPolicyNever
	case l.fate == hasRule:
		return l.codes[name] == ruled
	case l.outcomes[name] == runs: // it is killed
		return l.pod.Spec.RestartPolicy != v1.RestartPolicyNever
	}
	return again
}

// kindsReached is reached for a pod with containers of all kinds.
func (l *life) kindsReached(st *v1.PodStatus) bool {
	is := func(name string) v1.ContainerStatus {
		if c := pod.ContainerStatus(st, name); c != nil {
			return *c
		}
		return v1.ContainerStatus{}
	}
	ends := func(name string) bool {
		c := is(name)
		if l.kindsRestart(name) {
			return c.RestartCount >= l.rounds && (c.State.Running == nil || c.RestartCount > l.rounds)
		}
		return pod.IsTerminal(st.Phase)
	}
	switch {
	case l.fate == initFails:
		return ends(firstInit)
	case l.fate == sidecarEnds:
		return ends(sidecarName) && is(mainName).State.Running != nil
	case (l.fate == dies || l.fate == neverStarts) && l.kindsRestart(mainName):
		return is(mainName).RestartCount >= l.rounds && is(mainName).Ready // its startup probe may succeed a second later
	case l.fate == goesWell && l.outcomes[mainName] == runs:
		return ready("")(st)
	}
	return ends(mainName)
}

// kindsText describes such a life in words.
func (l *life) kindsText() string {
	var parts []string
	for c, kind := range pod.Containers(l.pod) {
		words := []string{c.Name}
		if l.outcomes[c.Name] == exits {
			words = append(words, fmt.Sprintf("exits with %d", l.codes[c.Name]))
		}
		for what, has := range map[string]bool{
			"startup": c.StartupProbe != nil, "readiness": c.ReadinessProbe != nil, "liveness": c.LivenessProbe != nil,
			"postStart": c.Lifecycle != nil && c.Lifecycle.PostStart != nil, "preStop": c.Lifecycle != nil && c.Lifecycle.PreStop != nil,
			"ignores TERM": kind == pod.RegularContainer && strings.Contains(c.Command[2], "trap '' TERM"),
		} {
			if has {
				words = append(words, "("+what+")")
			}
		}
		slices.Sort(words[1:])
		parts = append(parts, strings.Join(words, " "))
	}
	if l.debug {
		parts = append(parts, fmt.Sprintf("debug (exits %t)", l.outcomes[debugName] == exits))
	}
	return fmt.Sprintf("%s: %s, %s, %s", l.pod.Name, l.pod.Spec.RestartPolicy, l.fate, strings.Join(parts, ", "))
}
