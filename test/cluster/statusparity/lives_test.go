//go:build e2e

package statusparity

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	busybox = "registry.k8s.io/e2e-test-images/busybox:1.37.0-1"
	// noImage is an image that the mirror does not have.
	noImage = "registry.k8s.io/e2e-test-images/absent:1"
	// gate is the condition type of readiness gates.
	gate = "example.com/gate"
)

// outcome is what a container does if it is left alone.
type outcome int

const (
	exits outcome = iota
	runs
	// cannotStart: its command does not exist.
	cannotStart
	// cannotPull: its image does not exist.
	cannotPull
)

// moment is when a pod is deleted.
type moment int

const (
	// settled is when all of the pod's containers have reached their outcomes.
	settled moment = iota
	// early is when all containers that can run do so, before any has exited.
	early
)

// life is a pod and what is done with it.
type life struct {
	pod      *v1.Pod
	outcomes map[string]outcome
	codes    map[string]int
	when     moment
	// after is how long after that moment the pod is deleted. grace is the grace period of the
	// deletion in seconds, nil for the pod's own.
	after time.Duration
	grace *int64
	// rounds is how often a container that exits again and again has been started again by then. 2
	// means once after a back-off.
	rounds int32
	// opened: the readiness gate is opened when all containers run.
	opened bool
	// fate is what happens to a pod with containers of all kinds, empty for a pod with only regular
	// containers. debug: the pod gets an ephemeral container.
	fate  fate
	debug bool
}

// makeLives makes lives from a seed. The same seed makes the same lives.
func makeLives(seed uint64, n int) []*life {
	lives := make([]*life, n)
	for i := range lives {
		r, name := rand.New(rand.NewPCG(seed, uint64(i))), fmt.Sprintf("life-%03d", i)
		if i%2 == 1 && !*regular {
			lives[i] = makeKindsLife(r, name)
		} else {
			lives[i] = makeLife(r, name)
		}
	}
	return lives
}

func one[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func makeLife(r *rand.Rand, name string) *life {
	l := &life{outcomes: map[string]outcome{}, codes: map[string]int{}}
	l.pod = &v1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1.PodSpec{
			RestartPolicy:                 one(r, v1.RestartPolicyAlways, v1.RestartPolicyOnFailure, v1.RestartPolicyNever),
			TerminationGracePeriodSeconds: new(one[int64](r, 1, 2, 3)),
			AutomountServiceAccountToken:  new(r.IntN(4) == 0),
			HostNetwork:                   r.IntN(5) == 0,
		},
	}
	if r.IntN(5) == 0 {
		l.pod.Spec.ReadinessGates = []v1.PodReadinessGate{{ConditionType: gate}}
		l.opened = r.IntN(2) == 0
	}
	l.when = one(r, settled, settled, early)
	l.after = time.Duration(700+r.IntN(300)) * time.Millisecond
	l.rounds = one[int32](r, 1, 1, 2)
	l.grace = one(r, nil, nil, new(int64(0)), new(int64(1)), new(int64(2)))
	class := one(r, v1.PodQOSBestEffort, v1.PodQOSBurstable, v1.PodQOSGuaranteed)
	for i := range 1 + one(r, 0, 0, 0, 1, 1, 2) {
		l.addContainer(r, string(rune('a'+i)), i, class)
	}
	for _, of := range l.outcomes {
		l.opened = l.opened && of == runs // only then is the gate the only reason for Ready False
	}
	if l.grace != nil && *l.grace == 0 && slices.ContainsFunc(l.pod.Spec.Containers, func(c v1.Container) bool { return l.loops(c.Name) }) {
		l.grace = nil // the last status would depend on chance
	}
	return l
}

// addContainer adds a container. The i-th container exits more than a second after the one before,
// so that the order is the same for every node agent.
func (l *life) addContainer(r *rand.Rand, name string, i int, class v1.PodQOSClass) {
	c := v1.Container{Name: name, Image: busybox, ImagePullPolicy: v1.PullIfNotPresent}
	l.outcomes[name] = one(r, exits, exits, exits, runs, runs, cannotStart, cannotPull)
	l.codes[name] = one(r, 0, 0, 1, 3, 42)
	if i > 0 && (l.loops(name) || l.outcomes[name] == cannotPull && l.loops("a")) {
		l.outcomes[name] = runs // two back-offs would end in any order
	}
	script := "trap 'exit 9' TERM\n"
	if r.IntN(4) == 0 {
		script = "trap '' TERM\n"
	}
	say := one(r, "", "echo it logs this; ", "echo it tells this >/dev/termination-log; ", "echo it tells this there >/tmp/told; ")
	if strings.Contains(say, "/tmp/told") {
		c.TerminationMessagePath = "/tmp/told"
	}
	c.TerminationMessagePolicy = one(r, "", v1.TerminationMessageReadFile, v1.TerminationMessageFallbackToLogsOnError)
	switch l.outcomes[name] {
	case exits:
		seconds := 1.8 + 1.3*float64(i)
		if l.when == early {
			seconds = 60
		}
		script += fmt.Sprintf("%ssleep %.1f & wait $!\nexit %d", say, seconds, l.codes[name])
	case runs:
		script += say + "while :; do sleep 30 & wait $!; done"
	case cannotStart:
		c.Command = []string{"/no/such/program"}
	case cannotPull:
		c.Image = noImage
		script += "exit 0"
	}
	if c.Command == nil {
		c.Command = []string{"sh", "-c", script}
	}
	amounts := v1.ResourceList{v1.ResourceCPU: resource.MustParse("10m"), v1.ResourceMemory: resource.MustParse("24Mi")}
	switch {
	case class == v1.PodQOSGuaranteed:
		c.Resources = v1.ResourceRequirements{Limits: amounts, Requests: amounts}
	case class == v1.PodQOSBurstable && i == 0:
		c.Resources = v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceMemory: amounts[v1.ResourceMemory]}}
	}
	l.pod.Spec.Containers = append(l.pod.Spec.Containers, c)
}

// loops reports whether a container exits and starts again and again.
func (l *life) loops(name string) bool {
	of := l.outcomes[name]
	return l.restarts(name) && (of == cannotStart || of == exits && l.when == settled)
}

// restarts reports whether a container starts again after it exits by itself.
func (l *life) restarts(name string) bool {
	if l.fate != "" {
		return l.kindsRestart(name)
	}
	switch l.pod.Spec.RestartPolicy {
	case v1.RestartPolicyAlways:
		return true
	case v1.RestartPolicyOnFailure:
		return l.outcomes[name] == cannotStart || l.codes[name] != 0
	default:
		return false
	}
}

// reached reports whether the moment of the deletion has come.
func (l *life) reached(st *v1.PodStatus) bool {
	if l.fate != "" {
		return l.kindsReached(st)
	}
	if len(st.ContainerStatuses) < len(l.pod.Spec.Containers) || l.ends() && st.Phase != v1.PodSucceeded && st.Phase != v1.PodFailed {
		return false
	}
	for i := range st.ContainerStatuses {
		c := &st.ContainerStatuses[i]
		waits := ""
		if c.State.Waiting != nil {
			waits = c.State.Waiting.Reason
		}
		var there bool
		switch of := l.outcomes[c.Name]; {
		case of == cannotPull:
			there = waits == "ImagePullBackOff"
		case of == runs, of == exits && l.when == early:
			there = c.State.Running != nil
		case l.restarts(c.Name):
			// A kubelet reports that a container waits only when the container does not wait any more.
			there = c.RestartCount >= l.rounds && (c.State.Running == nil || c.RestartCount > l.rounds)
		default:
			there = c.State.Terminated != nil
		}
		if !there {
			return false
		}
	}
	return true
}

// ends reports whether a pod has ended by itself when it is deleted.
func (l *life) ends() bool {
	for name, of := range l.outcomes {
		if l.restarts(name) || of == runs || of == cannotPull || of == exits && l.when == early {
			return false
		}
	}
	return true
}

// ready reports whether a pod is ready, or with a reason, whether that is why it is not.
func ready(reason string) func(*v1.PodStatus) bool {
	return func(st *v1.PodStatus) bool {
		for i := range st.Conditions {
			if c := &st.Conditions[i]; c.Type == v1.PodReady {
				return c.Reason == reason && (reason != "" || c.Status == v1.ConditionTrue)
			}
		}
		return false
	}
}

// String describes a life in words.
func (l *life) String() string {
	if l.fate != "" {
		return l.kindsText()
	}
	var parts []string
	for i := range l.pod.Spec.Containers {
		name := l.pod.Spec.Containers[i].Name
		what := [...]string{"exits", "runs", "cannot start", "cannot pull"}[l.outcomes[name]]
		if l.outcomes[name] == exits {
			what += fmt.Sprintf(" with %d", l.codes[name])
		}
		parts = append(parts, name+" "+what)
	}
	text := fmt.Sprintf("%s: %s, %s, deleted %s", l.pod.Name, l.pod.Spec.RestartPolicy, strings.Join(parts, ", "),
		[...]string{"when settled", "early"}[l.when])
	if l.grace != nil {
		text += fmt.Sprintf(" with grace %d", *l.grace)
	}
	if l.pod.Spec.HostNetwork {
		text += ", host network"
	}
	if l.pod.Spec.ReadinessGates != nil {
		text += ", gate"
		if l.opened {
			text += " opened"
		}
	}
	return text
}
