package gate

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// listPoll is how often the runtime's first list is looked for.
const listPoll = 20 * time.Millisecond

// Adoption is the gate that a question passes first: a pod that runs was admitted, also
// where the agent's memory of that is lost. If nothing was lost, it passes all questions on
// except those about pods of a kubelet that are adopted. It delays questions until it is
// known what ran when the agent started.
type Adoption struct {
	mux.Gate
	Runtime Runtime
	// Lost reports whether something of what was decided is not known any
	// more.
	Lost func() bool
	Log  *slog.Logger

	// mu is never held while anything is asked or answered: workers say ended with
	// a lock held that TerminationRequested takes.
	mu sync.Mutex
	// ran has every pod that ran at the start and has not ended since; nil before
	// that is known.
	ran     map[types.UID]marks
	waiting []func()
}

// marks say what the newest sandbox of a pod was made for.
type marks struct {
	// instance is what policy judged, empty where the sandbox does not say.
	instance string
	// final identifies what policies had made of it, empty where they changed
	// nothing.
	final string
}

// Runtime is what an Adoption must know of pods.
type Runtime interface {
	// Pods returns the runtime's newest list, and when it was made; zero for
	// never.
	Pods() ([]status.ObservedPod, time.Time)
	// TerminationRequested reports whether the pod is being ended.
	TerminationRequested(uid types.UID) bool
}

// Judge implements mux.Gate.
func (a *Adoption) Judge(q api.Question, answer func(api.Verdict)) {
	a.whenListed(func() { a.judge(q, answer) })
}

// whenListed does something once it is known what ran: now, or by the goroutine of
// run.
func (a *Adoption) whenListed(do func()) {
	a.mu.Lock()
	if a.ran == nil {
		a.waiting = append(a.waiting, do)
		a.mu.Unlock()
		return
	}
	a.mu.Unlock()
	do()
}

// Ended says that a pod is done with: if it comes back, it is judged.
func (a *Adoption) Ended(uid types.UID) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.ran, uid)
}

// Run finds out what ran, and then lets the questions go on. It works until
// ctx ends.
func (a *Adoption) Run(ctx context.Context) error {
	tick := time.NewTicker(listPoll)
	defer tick.Stop()
	for !a.look() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	<-ctx.Done()
	return ctx.Err()
}

// look reports whether the runtime has been listed.
func (a *Adoption) look() bool {
	pods, at := a.Runtime.Pods()
	if at.IsZero() {
		return false
	}
	ran := map[types.UID]marks{}
	for i := range pods {
		if pods[i].Active() {
			ran[pods[i].UID] = marksOf(&pods[i])
		}
	}
	a.mu.Lock()
	waiting := a.waiting
	a.ran, a.waiting = ran, nil
	a.mu.Unlock()
	for _, do := range waiting {
		do()
	}
	return true
}

// Unlisted reports whether questions wait until it is known what ran.
func (a *Adoption) Unlisted() bool {
	if a == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ran == nil
}

// judge answers for a pod that runs just as it is asked about. One that runs
// in another version is judged as changed; it is not rejected, for it runs.
func (a *Adoption) judge(q api.Question, answer func(api.Verdict)) {
	had, runs := a.runs(q.Pod.UID)
	if !runs || q.Op != api.Add {
		a.Gate.Judge(q, answer)
		return
	}
	// A sandbox that a kubelet made says nothing of instances.
	if instance, err := instanceOf(&q); err == nil && (instance == had.instance || had.instance == "") {
		if had.final != "" {
			a.rebuild(q, had.final, answer)
			return
		}
		a.Log.Info("pod runs, so it was admitted", "pod", q.Pod.Namespace+"/"+q.Pod.Name, "uid", q.Pod.UID)
		answer(api.Verdict{
			Answer: api.Allow, Reason: api.ReasonAdopted, At: time.Now(),
			Message: "the pod ran when the agent started, which did not remember it",
		})
		return
	}
	a.Gate.Judge(q, func(v api.Verdict) {
		if v.Answer == api.Deny {
			v.Answer = api.Hold
			v.Message += "; the version that runs was admitted earlier and runs on"
		}
		answer(v)
	})
}

// instanceOf is the instance of the document that a question is about.
func instanceOf(q *api.Question) (string, error) {
	if q.Base != nil {
		return q.Base.Instance, nil
	}
	return pod.Instance(q.Pod)
}

// rebuild answers for a pod that runs as policies have changed it. If policies make
// the same changes again, the pod goes on with them. Otherwise what runs is not
// known any more: the pod is held, so that nothing touches it, and judged again
// like any held pod.
func (a *Adoption) rebuild(q api.Question, final string, answer func(api.Verdict)) {
	a.Gate.Judge(q, func(v api.Verdict) {
		if v.Answer == api.Allow && q.Base.Then(v.Mutation).Hash() == final {
			a.Log.Info("pod runs as policies change it, so it was admitted", "pod", q.Pod.Namespace+"/"+q.Pod.Name, "uid", q.Pod.UID)
			answer(v)
			return
		}
		v.Message = untouched(&v)
		if v.Answer == api.Allow {
			v.Policy, v.Tenant = "", "" // it is not for them that it is held
		}
		v.Answer, v.Reason, v.Mutation = api.Hold, api.ReasonAdopted, nil
		answer(v)
	})
}

// untouched returns why a pod continues to run although policies would now change it in another
// way.
func untouched(v *api.Verdict) string {
	const lost = "the pod runs as policies had changed it, which the agent does not remember"
	switch v.Answer {
	case api.Hold:
		return lost + "; it runs on untouched while they cannot say what they would make of it: " + v.Message
	case api.Deny:
		return lost + " and which they deny now; it runs on untouched: " + v.Message
	}
	return lost + " and which they do not do again; it runs on untouched until they do, or its document changes"
}

// runs reports whether the pod has run since before the start, as what, and
// nothing but the runtime knows of it.
func (a *Adoption) runs(uid types.UID) (had marks, runs bool) {
	had, runs = a.ranOn(uid)
	if !runs || had.instance != "" && !a.Lost() {
		return marks{}, false
	}
	return had, true
}

// ranOn reports whether the pod has run since before the start, as what, and is not
// being ended. That it has ended is looked for last, for it may end meanwhile.
func (a *Adoption) ranOn(uid types.UID) (had marks, runs bool) {
	pods, _ := a.Runtime.Pods()
	i := slices.IndexFunc(pods, func(p status.ObservedPod) bool { return p.UID == uid })
	if i < 0 || !pods[i].Active() || a.Runtime.TerminationRequested(uid) {
		return marks{}, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	had, runs = a.ran[uid]
	return had, runs
}

// marksOf are those of the newest sandbox.
func marksOf(p *status.ObservedPod) (m marks) {
	if len(p.Sandboxes) == 0 {
		return m
	}
	annotations := p.Sandboxes[0].Annotations
	m.instance = annotations[pod.AnnotationInstance]
	if annotations[pod.AnnotationMutated] != "" {
		m.final = annotations[pod.AnnotationFinal]
	}
	return m
}
