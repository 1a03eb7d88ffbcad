package agent

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
	"github.com/wardlet/wardlet/core/status"
)

// listPoll is how often the runtime's first list is looked for.
const listPoll = 20 * time.Millisecond

// adoption is a gate before the policies: a pod that runs was admitted, also
// where the agent's memory of that is lost. It holds questions back until it
// is known what ran when the agent started.
type adoption struct {
	mux.Gate
	// listed gives the runtime's newest list, and when it was made; zero for
	// never.
	listed func() ([]status.ObservedPod, time.Time)
	log    *slog.Logger

	mu sync.Mutex
	// remembered are the pods whose verdict is on the disk: they are not asked
	// about at the start, and if they are later they do not run any more.
	remembered map[types.UID]bool
	// ran has the instance of every other pod that ran at the start, nil
	// before that is known.
	ran     map[types.UID]string
	waiting []func()
}

// remembering are Documents that tell an adoption what is remembered. The mux
// loads all before it asks anything.
type remembering struct {
	mux.Documents
	adoption *adoption
}

// Load implements mux.Documents.
func (r remembering) Load(source string) ([]state.Record, []error) {
	records, errs := r.Documents.Load(source)
	r.adoption.mu.Lock()
	defer r.adoption.mu.Unlock()
	for i := range records {
		if d := records[i].Decided; d != nil {
			r.adoption.remembered[cmp.Or(d.Pod, records[i].Pod).UID] = true
		}
	}
	return records, errs
}

// Judge implements mux.Gate.
func (a *adoption) Judge(q pod.Question, answer func(pod.Verdict)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ran == nil {
		a.waiting = append(a.waiting, func() { a.judge(q, answer) })
		return
	}
	a.judge(q, answer)
}

func newAdoption(gate mux.Gate, listed func() ([]status.ObservedPod, time.Time), log *slog.Logger) *adoption {
	return &adoption{Gate: gate, listed: listed, log: log, remembered: map[types.UID]bool{}}
}

// run finds out what ran, and then lets the questions go on. It works until
// ctx ends.
func (a *adoption) run(ctx context.Context) error {
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
func (a *adoption) look() bool {
	pods, at := a.listed()
	if at.IsZero() {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ran = map[types.UID]string{}
	for i := range pods {
		if pods[i].Active() && !a.remembered[pods[i].UID] {
			a.ran[pods[i].UID] = instanceOf(&pods[i])
		}
	}
	for _, judge := range a.waiting {
		judge()
	}
	a.waiting = nil
	return true
}

// judge answers for a pod that runs just as it is asked about. One that runs
// in another version is judged as changed; it is not rejected, for it runs.
func (a *adoption) judge(q pod.Question, answer func(pod.Verdict)) {
	had, runs := a.ran[q.Pod.UID]
	if !runs || q.Op != pod.Add {
		a.Gate.Judge(q, answer)
		return
	}
	// A sandbox that a kubelet made says nothing of instances.
	if instance, err := pod.Instance(q.Pod); err == nil && (instance == had || had == "") {
		a.log.Info("pod runs, so it was admitted", "pod", q.Pod.Namespace+"/"+q.Pod.Name, "uid", q.Pod.UID)
		delete(a.ran, q.Pod.UID)
		answer(pod.Verdict{
			Answer: pod.Allow, Reason: pod.ReasonAdopted, At: time.Now(),
			Message: "the pod ran when the agent started, which did not remember it",
		})
		return
	}
	q.Op = pod.UpdateOp
	a.Gate.Judge(q, func(v pod.Verdict) {
		if v.Answer == pod.Deny {
			v.Answer = pod.Hold
			v.Message += "; the version that runs was admitted earlier and runs on"
		}
		answer(v)
	})
}

// instanceOf is the instance the newest sandbox was made for.
func instanceOf(p *status.ObservedPod) string {
	if len(p.Sandboxes) == 0 {
		return ""
	}
	return p.Sandboxes[0].Annotations[pod.AnnotationInstance]
}
