package syncloop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/pleg"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/worker"
)

var errBroken = errors.New("broken")

// world has fakes in memory for everything that a loop uses.
type world struct {
	loop    *Loop
	updates chan api.Update
	events  chan pleg.Event

	mu       sync.Mutex
	requests []string
	// workers are the states of the workers. SyncKnownPods removes a finished worker if its pod
	// is not wanted, or is in again.
	workers map[types.UID]worker.State
	again   map[types.UID]bool
	due     []types.UID
	strays  []worker.Orphan
	ending  []*v1.Pod
	since   map[types.UID]time.Time
	content map[types.UID]bool
	// remains are the pods of which the runtime still has something.
	remains map[types.UID]bool
	// endedBefore are the pods that an earlier agent was terminating.
	endedBefore map[types.UID]bool
	// remade are the pods that an earlier agent made from another manifest.
	remade map[types.UID]bool
	// unbegun are the pods whose workers have not begun, so that CancelStart succeeds.
	unbegun map[types.UID]bool
	// kills are the options of kill requests.
	kills map[types.UID]*worker.KillOptions

	// held are the pods of the mux. begun are the pods of which an earlier agent left something
	// on the node.
	held  []*v1.Pod
	begun map[types.UID]bool
	// documents are the documents of the pods of the mux.
	documents map[types.UID]string
	// outcomes are the terminal phases of pods.
	outcomes map[types.UID]v1.PodPhase
	// slowDisk is how long it takes to store a rejection.
	slowDisk time.Duration
	// taken are the calls of Track, without consecutive repetitions.
	taken []string
	// counted are the reasons of rejections.
	counted []string

	wanted map[types.UID]bool
	// wanting is the only source that WantedBy accepts, empty for all sources.
	wanting string
	seen    map[string]bool
	// onSeen is called by each call of Seen.
	onSeen func()

	statuses map[types.UID]v1.PodStatus
	recorded []string
	// warned are the policy warnings that are shown with pods.
	warned map[types.UID]string
	// ignoredEdits are the messages about ignored edits that are shown with pods.
	ignoredEdits map[types.UID]string
	// mutated are the messages about changes by policies that are shown with pods.
	mutated map[types.UID]string

	// stopped is the time of the clock if it stands still, zero if the clock runs.
	stopped time.Time

	healthErr error
	checks    int
	relists   int
	relistErr error
	relisted  chan struct{} // if set, Relist waits until it is closed
	deaf      time.Duration // Relist takes at least this long and ignores its context meanwhile

	// refusals are the answers of a second admission handler, behind the handler of stored
	// verdicts. judged are the questions to the second handler.
	refusals map[types.UID]admission.Result
	judged   []string
	// rooms are the handler's answers for pods that preempt other pods.
	rooms map[types.UID]*admission.Preemption
}

func newWorld(sources ...string) *world {
	w := &world{
		updates: make(chan api.Update), events: make(chan pleg.Event),
		workers: map[types.UID]worker.State{}, again: map[types.UID]bool{}, content: map[types.UID]bool{}, remains: map[types.UID]bool{},
		wanted: map[types.UID]bool{}, seen: map[string]bool{},
		statuses: map[types.UID]v1.PodStatus{}, refusals: map[types.UID]admission.Result{},
		kills: map[types.UID]*worker.KillOptions{}, begun: map[types.UID]bool{}, outcomes: map[types.UID]v1.PodPhase{},
		rooms: map[types.UID]*admission.Preemption{},
	}
	w.loop = New(Config{
		Updates: w.updates, Sources: sources, Desired: w, PLEG: w, Workers: w, Statuses: w, Events: w,
		Health: []func() error{w.check}, Admitter: admission.Chain{admission.StoredVerdict{}, w}, Log: slog.New(slog.DiscardHandler),
		Begun: w.hasBegun, Outcomes: w, Observer: observed{w}, Now: w.now,
	})
	return w
}

// run runs the loop until the test ends, and calls f meanwhile.
func (w *world) run(t *testing.T, f func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.loop.Run(ctx) }()
	f()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Run = %v, want the context's error", err)
	}
}

func (w *world) send(changes ...api.Change) {
	w.updates <- api.Update{Changes: changes}
	synctest.Wait()
}

func (w *world) expect(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if diff := cmp.Diff(want, w.requests, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	w.requests = nil
}

func (w *world) set(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

var kinds = map[worker.Kind]string{
	worker.Create: "create", worker.Update: "update", worker.Sync: "sync", worker.Kill: "kill",
}

func (w *world) Submit(r worker.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := fmt.Sprintf("%s %s", kinds[r.Kind], r.Pod.UID)
	if r.Origin.Document != "" {
		line += " from " + r.Origin.Document
	}
	if r.Replaces != "" {
		line += " after " + string(r.Replaces)
	}
	if r.Kill != nil {
		w.kills[r.Pod.UID] = r.Kill
	}
	w.requests = append(w.requests, line)
	switch {
	case r.Kind == worker.Kill:
		w.workers[r.Pod.UID] = worker.Terminating
	case w.workers[r.Pod.UID] == 0:
		w.workers[r.Pod.UID] = worker.Syncing
	case r.Kind == worker.Create:
		w.again[r.Pod.UID] = true
	}
}

func (w *world) Due() []types.UID {
	w.mu.Lock()
	defer w.mu.Unlock()
	due := w.due
	w.due = nil
	return due
}

func (w *world) SyncKnownPods(wanted func(types.UID) bool) map[types.UID]worker.State {
	w.mu.Lock()
	states := maps.Clone(w.workers)
	w.mu.Unlock()
	for uid, state := range states {
		if orphan := !wanted(uid); state == worker.Finished && (orphan || w.again[uid]) {
			delete(states, uid)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.workers = maps.Clone(states)
	return states
}

func (w *world) Recreate(uid types.UID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	returns := w.workers[uid] > worker.Syncing
	if returns {
		w.requests, w.again[uid] = append(w.requests, "return "+string(uid)), true
	}
	return returns
}

func (w *world) Orphans() []worker.Orphan {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.strays), func(s worker.Orphan) bool { return w.workers[s.UID] != 0 })
}

func (w *world) KillOrphan(s *worker.Orphan) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = append(w.requests, "kill stray "+string(s.UID))
	w.workers[s.UID] = worker.Terminating
}

func (w *world) Has(uid types.UID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.workers[uid] != 0
}

func (w *world) InRuntime(uid types.UID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.remains[uid]
}

func (w *world) RunsEarlierPod(uid types.UID, _ time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.endedBefore[uid]
}

func (w *world) ManifestChanged(p *v1.Pod, _ *api.Origin) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.remade[p.UID]
}

func (w *world) TerminatingPods() []worker.TerminatingPod {
	w.mu.Lock()
	defer w.mu.Unlock()
	var ending []worker.TerminatingPod
	for _, p := range w.ending {
		e := worker.TerminatingPod{Pod: p, Since: w.since[p.UID], Grace: 30}
		if s := p.Spec.TerminationGracePeriodSeconds; s != nil {
			e.Grace = *s
		}
		ending = append(ending, e)
	}
	return ending
}

func (w *world) Pods() []mux.Desired {
	w.mu.Lock()
	defer w.mu.Unlock()
	var pods []mux.Desired
	for _, p := range w.held {
		pods = append(pods, mux.Desired{Pod: p, Origin: api.Origin{Document: w.documents[p.UID]}})
	}
	return pods
}

func (w *world) KnownTerminated(uid types.UID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.workers[uid] >= worker.Terminated
}

func (w *world) TerminationRequested(uid types.UID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.workers[uid] >= worker.Terminating
}

func (w *world) ContentRemovable(uid types.UID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.content[uid]
}

func (w *world) Wanted(uid types.UID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wanted[uid]
}

func (w *world) WantedBy(uid types.UID, source string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wanted[uid] && (w.wanting == "" || w.wanting == source)
}

func (w *world) Seen(source string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := w.seen[source]
	if w.onSeen != nil {
		w.onSeen()
	}
	return seen
}

func (w *world) Events() <-chan pleg.Event { return w.events }

func (w *world) Relist(ctx context.Context) error {
	w.mu.Lock()
	w.relists++
	relisted, err := w.relisted, w.relistErr
	w.mu.Unlock()
	time.Sleep(w.deaf)
	if relisted != nil {
		select {
		case <-relisted:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

func (w *world) Get(uid types.UID) (v1.PodStatus, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	st, ok := w.statuses[uid]
	return st, ok
}

func (w *world) Set(p *v1.Pod, st v1.PodStatus) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.statuses[p.UID] = st
	return true, nil
}

func (w *world) Event(p *v1.Pod, eventType, reason, message string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.recorded = append(w.recorded, fmt.Sprintf("%s %s %s: %s", eventType, p.Name, reason, message))
}

// expectEvents compares the events since the last call.
func (w *world) expectEvents(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if diff := cmp.Diff(want, w.recorded, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	w.recorded = nil
}

// expectStatus compares the status of a pod as "phase reason: message", or "" for none.
func (w *world) expectStatus(t *testing.T, uid types.UID, want string) {
	t.Helper()
	synctest.Wait()
	got := ""
	if st, ok := w.Get(uid); ok {
		got = fmt.Sprintf("%s %s: %s", st.Phase, st.Reason, st.Message)
	}
	if got != want {
		t.Errorf("status of %s is %q, want %q", uid, got, want)
	}
}

func (w *world) SetPolicyWarning(uid types.UID, _, message string, _ time.Time) {
	w.note(&w.warned, uid, message)
}

func (w *world) SetMutated(uid types.UID, _, message string, _ time.Time) {
	w.note(&w.mutated, uid, message)
}

func (w *world) SetEditIgnored(uid types.UID, _, message string, _ time.Time) {
	w.note(&w.ignoredEdits, uid, message)
}

// note records a message that is shown with a pod.
func (w *world) note(all *map[types.UID]string, uid types.UID, message string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if *all == nil {
		*all = map[types.UID]string{}
	}
	(*all)[uid] = message
}

// expectMutated compares the message about changes by policies that is shown with a pod, "" for
// none.
func (w *world) expectMutated(t *testing.T, uid types.UID, want string) {
	t.Helper()
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if got := w.mutated[uid]; got != want {
		t.Errorf("of %s policies changed %q, want %q", uid, got, want)
	}
}

// expectWarned compares the warning that is shown with a pod, "" for none.
func (w *world) expectWarned(t *testing.T, uid types.UID, want string) {
	t.Helper()
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if got := w.warned[uid]; got != want {
		t.Errorf("warning of %s is %q, want %q", uid, got, want)
	}
}

func (w *world) DeleteEnded(uid types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if pod.IsTerminal(w.statuses[uid].Phase) {
		delete(w.statuses, uid)
	}
}

func (w *world) Delete(uid types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.statuses, uid)
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped.IsZero() {
		return time.Now()
	}
	return w.stopped
}

func (w *world) check() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.checks++
	return w.healthErr
}

func newPod(uid types.UID) *v1.Pod {
	p := &v1.Pod{}
	p.Name, p.Namespace, p.UID = "pod-"+string(uid), "default", uid
	return p
}

// newStatic returns a pod of a file.
func newStatic(uid types.UID) *v1.Pod {
	p := newPod(uid)
	p.Annotations = map[string]string{pod.AnnotationSource: "file"}
	return p
}

func added(p *v1.Pod) api.Change { return api.Change{Op: api.Add, New: p} }

func removed(p *v1.Pod) api.Change { return api.Change{Op: api.Remove, Old: p} }

func stray(uid types.UID, source string) worker.Orphan {
	return worker.Orphan{UID: uid, Name: "old-" + string(uid), Namespace: "default", Source: source}
}

// untilHousekeeping waits for the next housekeeping and its effects.
func untilHousekeeping() {
	time.Sleep(housekeepingPeriod)
	synctest.Wait()
}
