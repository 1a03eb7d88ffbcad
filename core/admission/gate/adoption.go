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

// listPoll is the interval at which Run checks for the runtime's first list.
const listPoll = 20 * time.Millisecond

// Adoption is the first gate for a question. A pod that runs was admitted earlier, even if the
// agent has lost its memory of that. If nothing was lost, Adoption passes all questions on, except
// those about adopted pods of a kubelet. It delays questions until it is known which pods ran when
// the agent started.
type Adoption struct {
	mux.Gate
	Runtime Runtime
	// Lost reports whether earlier decisions were lost.
	Lost func() bool
	Log  *slog.Logger

	// mu is never held during a question or an answer: workers call Ended while they hold a lock that
	// TerminationRequested takes.
	mu sync.Mutex
	// ran has every pod that ran at the start and has not terminated since. It is nil until the
	// runtime has been listed.
	ran     map[types.UID]marks
	waiting []func()
}

// marks describe what the newest sandbox of a pod was made for.
type marks struct {
	// instance is the instance that policy judged, empty if the sandbox does not have it.
	instance string
	// final is the hash of the pod with the changes of policies, empty if policies changed nothing.
	final string
}

// Runtime has the state of pods that an Adoption needs.
type Runtime interface {
	// Pods returns the runtime's newest list and its time, which is zero before the first list.
	Pods() ([]status.ObservedPod, time.Time)
	// TerminationRequested reports whether the pod is terminating.
	TerminationRequested(uid types.UID) bool
}

// Judge implements mux.Gate.
func (a *Adoption) Judge(q api.Question, answer func(api.Verdict)) {
	a.whenListed(func() { a.judge(q, answer) })
}

// whenListed calls do once it is known which pods ran: now, or later in the goroutine of Run.
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

// Ended records that a pod has terminated. If the pod returns, it is judged.
func (a *Adoption) Ended(uid types.UID) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.ran, uid)
}

// Run finds out which pods ran, and then answers the delayed questions. It works until ctx ends.
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

// look reports whether the runtime has been listed. After the first list, it calls what waited for
// it.
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

// Unlisted reports whether questions wait until it is known which pods ran.
func (a *Adoption) Unlisted() bool {
	if a == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ran == nil
}

// judge admits a pod that runs in the version of the question. A pod that runs in another version
// is judged as an update; a denial becomes a hold, because the pod runs.
func (a *Adoption) judge(q api.Question, answer func(api.Verdict)) {
	had, runs := a.runs(q.Pod.UID)
	if !runs || q.Op != api.Add {
		a.Gate.Judge(q, answer)
		return
	}
	// A sandbox that a kubelet made has no instance.
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

// instanceOf returns the instance of the document that a question is about.
func instanceOf(q *api.Question) (string, error) {
	if q.Base != nil {
		return q.Base.Instance, nil
	}
	return pod.Instance(q.Pod)
}

// rebuild answers for a pod that runs with changes by policies. If policies make the same changes
// again, the pod is admitted with them. Otherwise the running version is unknown: the pod is held,
// so that nothing changes it, and judged again like any held pod.
func (a *Adoption) rebuild(q api.Question, final string, answer func(api.Verdict)) {
	a.Gate.Judge(q, func(v api.Verdict) {
		if v.Answer == api.Allow && q.Base.Then(v.Mutation).Hash() == final {
			a.Log.Info("pod runs as policies change it, so it was admitted", "pod", q.Pod.Namespace+"/"+q.Pod.Name, "uid", q.Pod.UID)
			answer(v)
			return
		}
		v.Message = untouched(&v)
		if v.Answer == api.Allow {
			v.Policy, v.Tenant = "", "" // the policies are not the reason for the hold
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

// runs reports whether the pod has run since before the start, with the marks of its sandbox, and
// is known only from the runtime.
func (a *Adoption) runs(uid types.UID) (had marks, runs bool) {
	had, runs = a.ranOn(uid)
	if !runs || had.instance != "" && !a.Lost() {
		return marks{}, false
	}
	return had, true
}

// ranOn reports whether the pod has run since before the start and is not terminating, with the
// marks of its sandbox. It checks last whether the pod has ended, because the pod may end during
// the call.
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

// marksOf returns the marks of the newest sandbox.
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
