package simulation

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
	"github.com/wardlet/wardlet/core/status"
)

// disk is what outlives the agent besides the runtime. It is guarded by the world's
// lock.
type disk struct {
	// records and the statuses in outcomes are JSON.
	records  map[state.DocumentID][]byte
	outcomes map[types.UID]outcome
	// doubt are the documents whose newest write failed.
	doubt map[state.DocumentID]bool
	// untracked are the pods whose documents the disk lost, and that no agent has tracked since.
	untracked map[types.UID]bool
}

// outcome is the stored status of a pod, and the version it belongs to.
type outcome struct {
	lived
	ended  bool
	status []byte
}

// lived is since when a pod has been seen, and its newest version.
type lived struct {
	since    time.Time
	instance string
}

func newDisk() *disk {
	return &disk{records: map[state.DocumentID][]byte{}, outcomes: map[types.UID]outcome{}, doubt: map[state.DocumentID]bool{}, untracked: map[types.UID]bool{}}
}

// documents is the disk as the mux uses it, for one life of the agent.
type documents struct{ *link }

var errDisk = errors.New("no space left on device")

// Apply implements mux.Documents. If the agent is killed during the call, only a part is
// written.
func (d documents) Apply(put []state.Record, remove []state.DocumentID) error {
	w := d.world
	w.mu.Lock()
	if d.dead {
		w.mu.Unlock()
		return errGone
	}
	takes, trouble := w.plan(callDisk, "")
	w.mu.Unlock()
	killed := d.sleep(context.Background(), takes)
	w.mu.Lock()
	defer w.mu.Unlock()
	failed := killed != nil || d.dead || trouble != nil
	for i := range put {
		w.disk.doubt[state.DocumentID{Source: put[i].Source, ID: put[i].ID}] = failed
	}
	for _, id := range remove {
		w.disk.doubt[id] = failed
	}
	switch {
	case killed != nil || d.dead:
		put, remove = put[:w.draw("torn")%uint64(len(put)+1)], nil
	case trouble != nil:
		return errDisk
	}
	for i := range put {
		if put[i].Pod == nil {
			return errors.New("no pod to keep")
		}
		text, err := json.Marshal(&put[i])
		if err != nil {
			return err
		}
		w.disk.records[state.DocumentID{Source: put[i].Source, ID: put[i].ID}] = text
	}
	for _, id := range remove {
		delete(w.disk.records, id)
	}
	return killed
}

// LoadAll implements mux.Documents.
func (d documents) LoadAll() (records []state.Record, errs []error) {
	w := d.world
	w.mu.Lock()
	defer w.mu.Unlock()
	order := slices.SortedFunc(maps.Keys(w.disk.records), func(a, b state.DocumentID) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.ID, b.ID))
	})
	for _, id := range order {
		var r state.Record
		if err := json.Unmarshal(w.disk.records[id], &r); err != nil {
			errs = append(errs, err)
			continue
		}
		records = append(records, r)
	}
	return records, errs
}

// outcomes store how pods end, as the agent does, except for the times of the writes.
type outcomes struct {
	*link
	wanted func(types.UID) bool
	lives  map[types.UID]lived
}

// Track implements syncloop.Outcomes.
func (o *outcomes) Track(p *v1.Pod, since time.Time, restored bool) {
	instance, err := outcomeInstance(p)
	w := o.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if o.dead || err != nil {
		return
	}
	delete(w.disk.untracked, p.UID)
	now := lived{since.Round(0), instance}
	o.lives[p.UID] = now
	kept, ok := w.disk.outcomes[p.UID]
	same := kept.since.Equal(now.since)
	if !pod.IsStatic(p) || kept.since.IsZero() || !restored {
		same = same || kept.instance == instance
	}
	switch {
	case !ok:
	case same:
		kept.lived = now
		w.disk.outcomes[p.UID] = kept
	default:
		delete(w.disk.outcomes, p.UID)
	}
}

// Discard implements worker.Outcomes.
func (o *outcomes) Discard(*v1.Pod, *v1.PodStatus) {}

// Save implements worker.Outcomes.
func (o *outcomes) Save(p *v1.Pod, st *v1.PodStatus) {
	next := status.Outcome(p, st)
	if !o.wanted(p.UID) {
		o.Forget(p.UID)
		return
	}
	instance, err := outcomeInstance(p)
	is := lived{instance: instance}
	text, wrong := json.Marshal(&next)
	w := o.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if o.dead || err != nil || wrong != nil {
		return
	}
	if known, ok := o.lives[p.UID]; ok {
		is = known
	}
	if ended := pod.IsTerminal(next.Phase); ended || !w.disk.outcomes[p.UID].ended {
		w.disk.outcomes[p.UID] = outcome{is, ended, text}
	}
}

// Saved implements worker.Outcomes.
func (o *outcomes) Saved(p *v1.Pod) (v1.PodStatus, bool) {
	instance, err := outcomeInstance(p)
	w := o.world
	w.mu.Lock()
	defer w.mu.Unlock()
	kept, ok := w.disk.outcomes[p.UID]
	if !ok || err != nil {
		return v1.PodStatus{}, false
	}
	if kept.instance != instance {
		delete(w.disk.outcomes, p.UID)
		return v1.PodStatus{}, false
	}
	var st v1.PodStatus
	err = json.Unmarshal(kept.status, &st)
	return st, err == nil
}

// Ended implements syncloop.Outcomes.
func (o *outcomes) Ended(p *v1.Pod) bool {
	instance, err := outcomeInstance(p)
	w := o.world
	w.mu.Lock()
	defer w.mu.Unlock()
	kept, ok := w.disk.outcomes[p.UID]
	return ok && err == nil && kept.instance == instance && kept.ended
}

// Rejected implements syncloop.Outcomes.
func (o *outcomes) Rejected(p *v1.Pod, st *v1.PodStatus, kept func()) {
	o.Save(p, st)
	kept()
}

// Forget implements syncloop.Outcomes.
func (o *outcomes) Forget(uid types.UID) {
	w := o.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if !o.dead {
		delete(o.lives, uid)
		delete(w.disk.outcomes, uid)
	}
}

// outcomeInstance distinguishes pods of one UID. An API server never uses a UID twice.
func outcomeInstance(p *v1.Pod) (string, error) {
	if !pod.IsStatic(p) {
		return "", nil
	}
	return pod.Instance(p)
}
