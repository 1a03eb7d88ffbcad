package simulation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// renameKeepsUID: a renamed pod keeps its UID.
const renameKeepsUID = true

// edit changes documents as a step says. mu is held.
func (w *world) edit(st *step) {
	s := w.sources[st.source]
	d := s.documents[st.place]
	switch st.do {
	case silence:
		s.silent = true
		return
	case speech:
		s.silent = false
		s.poke()
		return
	case add:
		if name := nameOf(st.place); d == nil && !s.named(name) {
			w.write(s, st.place, w.newPod(s, name, st.n))
		}
		return
	case again:
		if was := s.past[st.place]; d == nil && was != nil && s.name != apiSource && !s.named(was.pod.Name) {
			w.write(s, st.place, was.pod.DeepCopy())
			s.documents[st.place].version = was.version
		}
		return
	}
	if d == nil {
		return
	}
	switch st.do {
	case remove:
		w.erase(s, st.place)
	case replace:
		w.write(s, st.place, w.newPod(s, d.pod.Name, st.n))
	case update, relabel:
		w.amend(s, st)
	case deletion:
		w.remand(s, st)
	case rename:
		name := nameOf(st.place + 1 + st.n%(places-1))
		if s.name == apiSource || s.named(name) {
			return
		}
		p := w.newPod(s, name, st.n)
		if st.n%2 == 0 && renameKeepsUID {
			p = d.pod.DeepCopy()
			p.Name = name
			w.lapse(p.UID, lapse{final: true})
			w.renew(p)
		}
		w.write(s, st.place, p)
	case move:
		if s.name != apiSource {
			for _, uid := range d.former {
				w.lapse(uid, lapse{final: true})
			}
			w.counter++
			d.id = fmt.Sprintf("/%s/%d-%d.yaml#0", s.name, st.place, w.counter)
			s.poke()
		}
	case report:
		if s.name == apiSource {
			p := d.pod.DeepCopy()
			p.Status.NominatedNodeName = "node-" + strconv.Itoa(st.n)
			w.write(s, st.place, p)
		}
	}
}

// amend changes a pod that keeps its UID: its image, its labels or, if it is static, its
// arguments. What it is made from changes only if all its containers may start again. A
// container that may not, that is stopped for the change and cannot be started at once, has
// ended, as with a kubelet.
func (w *world) amend(s *source, st *step) {
	p := s.documents[st.place].pod.DeepCopy()
	if s.name != apiSource && !named(p.UID) {
		return // another document makes another pod
	}
	if st.do == update && w.amendKinds(s, p, st.n) {
		w.renew(p)
		w.write(s, st.place, p)
		return
	}
	if st.do == relabel || p.Spec.RestartPolicy != v1.RestartPolicyAlways {
		p.Labels = map[string]string{"n": strconv.Itoa(st.n)}
	} else {
		c := &p.Spec.Containers[st.n%len(p.Spec.Containers)]
		if w.counter++; s.name != apiSource && st.n%3 == 0 {
			c.Args = []string{strconv.Itoa(w.counter)}
		}
		if c.Args == nil || st.n%2 == 0 {
			c.Image = imageKind(c.Image) + ":" + strconv.Itoa(w.counter)
		}
	}
	w.renew(p)
	w.write(s, st.place, p)
}

// remand deletes a pod of the API server, or changes its deletion grace period.
func (w *world) remand(s *source, st *step) {
	if s.name != apiSource {
		return
	}
	p := s.documents[st.place].pod.DeepCopy()
	if p.DeletionTimestamp == nil {
		p.DeletionTimestamp = new(metav1.NewTime(w.clock.wall()))
	}
	p.DeletionGracePeriodSeconds = new([]int64{1, 2, 5, 20, 60}[st.n%5])
	sub := w.subject(p.UID)
	sub.longest = max(sub.longest, *p.DeletionGracePeriodSeconds)
	w.write(s, st.place, p)
}

// hasAllKinds reports whether the pods of a script have init containers, sidecars, probes and
// hooks. Only some seeds have them, so that the scripts of other seeds stay the same.
func hasAllKinds(seed uint64) bool { return slices.Contains([]uint64{2, 6, 13, 15}, seed%16) }

// task is the image of init containers. They exit soon, mostly with 0.
const task = "task"

// equip adds containers of other kinds to a pod, and probes and hooks to its containers; n
// says which.
func equip(p *v1.Pod, n int) {
	r := rand.New(rand.NewPCG(uint64(n), 2))
	for i := range r.IntN(4) {
		c := v1.Container{Name: "i" + strconv.Itoa(i), Image: task + ":1"}
		if r.IntN(2) == 0 {
			c.Name, c.Image, c.RestartPolicy = "s"+strconv.Itoa(i), "server:1", new(v1.ContainerRestartPolicyAlways)
			watch(&c, r)
		}
		p.Spec.InitContainers = append(p.Spec.InitContainers, c)
	}
	for i := range p.Spec.Containers {
		c := &p.Spec.Containers[i]
		watch(c, r)
		if !named(p.UID) && r.IntN(4) == 0 { // see amend
			c.RestartPolicy = new(pick(r, v1.ContainerRestartPolicyNever, v1.ContainerRestartPolicyOnFailure, v1.ContainerRestartPolicyAlways))
			c.RestartPolicyRules = []v1.ContainerRestartRule{{
				Action: v1.ContainerRestartRuleActionRestart,
				ExitCodes: &v1.ContainerRestartRuleOnExitCodes{
					Operator: pick(r, v1.ContainerRestartRuleOnExitCodesOpIn, v1.ContainerRestartRuleOnExitCodesOpNotIn),
					Values:   []int32{int32(r.IntN(2)), 137},
				},
			}}
		}
	}
}

// watch adds probes and hooks to a container.
func watch(c *v1.Container, r *rand.Rand) {
	handler := func() *v1.LifecycleHandler {
		return &v1.LifecycleHandler{Exec: &v1.ExecAction{Command: []string{"hook"}}}
	}
	probe := func(failures int) *v1.Probe {
		return &v1.Probe{
			ProbeHandler:  v1.ProbeHandler{Exec: &v1.ExecAction{Command: []string{"probe"}}},
			PeriodSeconds: 1 + int32(r.IntN(4)), SuccessThreshold: 1, FailureThreshold: 1 + int32(r.IntN(failures)),
		}
	}
	if r.IntN(2) == 0 {
		c.ReadinessProbe = probe(3)
		c.ReadinessProbe.SuccessThreshold += int32(r.IntN(2))
	}
	if r.IntN(2) == 0 {
		c.LivenessProbe = probe(4)
		c.LivenessProbe.InitialDelaySeconds = int32(r.IntN(2)) * 5
	}
	if r.IntN(4) == 0 {
		c.StartupProbe = probe(10)
	}
	if r.IntN(5) == 0 {
		c.Lifecycle = &v1.Lifecycle{PostStart: handler()}
	}
	if r.IntN(4) == 0 {
		if c.Lifecycle == nil {
			c.Lifecycle = &v1.Lifecycle{}
		}
		c.Lifecycle.PreStop = handler()
	}
}

// amendKinds changes a container of another kind in a pod that keeps its UID: it changes the
// image of a sidecar, or adds an ephemeral container to a pod of the API server. It reports
// whether it changed one.
func (w *world) amendKinds(s *source, p *v1.Pod, n int) bool {
	i := slices.IndexFunc(p.Spec.InitContainers, func(c v1.Container) bool { return pod.IsSidecar(&c) })
	switch {
	case !w.set.allKinds || n%3 == 0:
		return false
	case s.name == apiSource && n%3 == 1:
		w.counter++
		e := v1.EphemeralContainer{EphemeralContainerCommon: v1.EphemeralContainerCommon{Name: "e" + strconv.Itoa(w.counter), Image: job + ":1"}}
		p.Spec.EphemeralContainers = append(p.Spec.EphemeralContainers, e)
	case i >= 0 && p.Spec.RestartPolicy == v1.RestartPolicyAlways:
		w.counter++
		p.Spec.InitContainers[i].Image = "server:" + strconv.Itoa(w.counter)
	default:
		return false
	}
	return true
}

// mayRunAgain reports whether a container of a pod may start again after it exited with code.
func mayRunAgain(p *v1.Pod, c *v1.Container, code int32) bool {
	for _, rule := range c.RestartPolicyRules {
		if slices.Contains(rule.ExitCodes.Values, code) == (rule.ExitCodes.Operator == v1.ContainerRestartRuleOnExitCodesOpIn) {
			return true
		}
	}
	policy := policyOf(p, c)
	return policy == v1.RestartPolicyAlways || policy == v1.RestartPolicyOnFailure && code != 0
}

// policyOf returns the restart policy of a container: its own, else its pod's.
func policyOf(p *v1.Pod, c *v1.Container) v1.RestartPolicy {
	if c.RestartPolicy != nil {
		return v1.RestartPolicy(*c.RestartPolicy)
	}
	return p.Spec.RestartPolicy
}
