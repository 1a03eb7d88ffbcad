package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/wardlet/wardlet/core/kube"
	"github.com/wardlet/wardlet/core/pod"
)

const (
	// fullPass is the interval at which all pods are compared with the server's copies, as in a
	// kubelet.
	fullPass = 10 * time.Second
	// firstRetry and lastRetry are the times between attempts while the server does not take statuses.
	firstRetry = 200 * time.Millisecond
	lastRetry  = fullPass
	// initPause is the minimum time between two statuses of a pod whose init containers are running.
	// Each status takes time of the API server and the node that delays the start of the next init
	// container. A kubelet combines changes within a second, too.
	initPause = time.Second
)

// owed is the set of pods whose status the API server may not have. It is safe for concurrent use.
type owed struct {
	mu   sync.Mutex
	uids map[types.UID]bool
	wake chan struct{}
}

func (o *owed) add(uid types.UID) {
	o.mu.Lock()
	o.uids[uid] = true
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default: // the one that waits says it too
	}
}

// take returns the whole set and empties it.
func (o *owed) take() map[types.UID]bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := o.uids
	o.uids = map[types.UID]bool{}
	return all
}

// report is a pod at the API server, and the pod on this node whose status it gets: another version
// of the same pod, or the static pod of a mirror pod.
type report struct{ there, here *v1.Pod }

// of returns the report with a newer copy of the API server.
func (r report) of(there *v1.Pod) report {
	if r.here.UID == there.UID {
		return report{there: there, here: there}
	}
	return report{there: there, here: r.here}
}

// find returns the report about the pod of this node with that UID, false if there is none.
func (m *Member) find(uid types.UID) (report, bool) {
	if p := m.cfg.Pods.Get(uid); p != nil {
		return report{there: p, here: p}, true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.mirrored[uid]
	return r, ok
}

// reports returns the reports about all pods.
func (m *Member) reports() []report {
	m.mu.Lock()
	all := slices.Collect(maps.Values(m.mirrored))
	m.mu.Unlock()
	for _, p := range m.cfg.Pods.All() {
		all = append(all, report{there: p, here: p})
	}
	return all
}

// reportPods writes the statuses of pods until ctx is done.
func (m *Member) reportPods(ctx context.Context) {
	problems := &trouble{log: m.log, what: "pod status"}
	pass := time.NewTicker(fullPass)
	defer pass.Stop()
	pause := time.NewTimer(initPause)
	pause.Stop()
	defer pause.Stop()
	delay, again := firstRetry, time.NewTimer(firstRetry)
	again.Stop()
	defer again.Stop()
	// later has the pods whose status was refused while others' were accepted. They are retried with
	// the next full pass. failing has those of passes in which nothing was accepted. They are retried
	// after a delay, but a status that changes meanwhile is sent at once.
	later, failing := map[types.UID]error{}, map[types.UID]error{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.owed.wake:
		case <-pause.C:
			for uid := range m.paused {
				m.owed.add(uid)
			}
			clear(m.paused)
		case <-again.C:
			for uid := range failing {
				m.owed.add(uid)
			}
			clear(failing)
		case <-pass.C:
			for uid := range later {
				m.owed.add(uid)
			}
			clear(later)
			for _, r := range m.reports() {
				if failing[r.here.UID] == nil && m.stale(r) {
					m.owed.add(r.here.UID)
				}
			}
		}
		waited := len(m.paused) > 0
		failed, taken := m.reportAll(ctx)
		if ctx.Err() != nil {
			return
		}
		if !waited && len(m.paused) > 0 {
			pause.Reset(initPause)
		}
		for _, err := range failed {
			problems.note(err)
		}
		for _, uid := range taken {
			delete(later, uid)
			delete(failing, uid)
		}
		if len(failed)+len(later)+len(failing) == 0 {
			problems.note(nil)
		}
		switch {
		case len(taken) > 0:
			maps.Copy(later, failed)
		case len(failed) > 0:
			if len(failing) == 0 {
				again.Reset(spread(delay, 0.1))
				delay = min(2*delay, lastRetry)
			}
			maps.Copy(failing, failed)
		}
		if len(failing) == 0 {
			delay = firstRetry
		}
	}
}

// finalFirst returns UIDs of pods, those first whose pods have ended: others may wait for them.
func (m *Member) finalFirst(owed map[types.UID]bool) []types.UID {
	var final, others []types.UID
	for uid := range owed {
		if p := m.cfg.Pods.Get(uid); p != nil {
			if st, _ := m.cfg.Pods.Status(p); st.Phase == v1.PodSucceeded || st.Phase == v1.PodFailed {
				final = append(final, uid)
				continue
			}
		}
		others = append(others, uid)
	}
	return append(final, others...)
}

// reportAll writes the owed statuses. It returns the pods whose status was refused, and those
// whose status was accepted.
func (m *Member) reportAll(ctx context.Context) (failed map[types.UID]error, taken []types.UID) {
	failed = map[types.UID]error{}
	for _, uid := range m.finalFirst(m.owed.take()) {
		r, ok := m.find(uid)
		if !ok {
			delete(m.met, uid)
			continue
		}
		if m.pauses(r) {
			m.paused[uid] = true
			continue
		}
		delete(m.paused, uid)
		err := m.reportPod(ctx, r)
		if err == nil {
			taken = append(taken, uid)
			continue
		}
		failed[uid] = &podError{pod: r.there, err: m.cfg.Client.Explain(err)}
		if ctx.Err() != nil {
			break
		}
	}
	return failed, taken
}

// pauses reports whether the status of a pod must wait, because one was written just now and the
// pod's init containers are still running.
func (m *Member) pauses(r report) bool {
	st, ok := m.status(r)
	initializes := func(c v1.PodCondition) bool { return c.Type == v1.PodInitialized && c.Status == v1.ConditionFalse }
	return ok && r.there.DeletionTimestamp == nil && st.Phase == v1.PodPending && slices.ContainsFunc(st.Conditions, initializes) &&
		m.cfg.Now().Sub(m.met[r.here.UID]) < initPause
}

// podError is the reason why the status of a pod was refused.
type podError struct {
	pod *v1.Pod
	err error
}

func (e *podError) Error() string {
	return fmt.Sprintf("pod %s/%s: %v", e.pod.Namespace, e.pod.Name, e.err)
}
func (e *podError) Unwrap() error { return e.err }

// reason returns the error without the names in the API server's message, so that it is the same
// for all pods.
func (e *podError) reason() string {
	return strings.NewReplacer(strconv.Quote(e.pod.Name), "NAME", " "+e.pod.Name+")", " NAME)", strconv.Quote(e.pod.Namespace), "NAMESPACE").
		Replace(e.err.Error())
}

// stale reports whether the server's copy of a pod, as read by the source, has an outdated status.
func (m *Member) stale(r report) bool {
	st, ok := m.status(r)
	if !ok {
		return false
	}
	next := merge(&r.there.Status, &st, m.cfg.Pods.MayRun(r.here.UID))
	return !equality.Semantic.DeepEqual(&r.there.Status, &next) || !pod.IsMirror(r.there) && deletable(r.there, &next) && m.cfg.Pods.Finished(r.here.UID)
}

// status returns the status of a pod for the server, false if the node has none. A pod that is
// deleted before the node has started work on it is reported as failed, because controllers wait
// for a terminal phase.
func (m *Member) status(r report) (v1.PodStatus, bool) {
	p := r.here
	st, ok := m.cfg.Pods.Status(p)
	if p.DeletionTimestamp == nil || m.cfg.Pods.Begun(p.UID) || !m.cfg.Pods.Finished(p.UID) {
		return st, ok
	}
	if !ok {
		st = *p.Status.DeepCopy()
	}
	if !pod.IsTerminal(st.Phase) {
		st.Phase = v1.PodFailed
	}
	return st, true
}

// reportPod updates the server's copy of a pod: its status and, once nothing of the pod is left,
// its deletion.
func (m *Member) reportPod(ctx context.Context, r report) error {
	if _, ok := m.status(r); !ok {
		return nil
	}
	p, uid := r.there, r.here.UID
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	there := &v1.Pod{}
	err := m.pod(http.MethodGet, p).Do(ctx).Into(there)
	if m.gone(err) || err == nil && there.UID != p.UID {
		return nil // gone or replaced: nothing to report
	}
	if err != nil {
		return err
	}
	r = r.of(there)
	if _, met := m.met[uid]; !met {
		m.cfg.Pods.Adopt(uid, &there.Status)
	}
	m.met[uid] = m.cfg.Now()
	finished := m.cfg.Pods.Finished(uid) // read first, because the status of a finished pod is final
	st, ok := m.status(r)
	if !ok {
		return nil
	}
	next := there.DeepCopy()
	next.Status = merge(&there.Status, &st, m.cfg.Pods.MayRun(uid))
	patch, err := kube.PodStatus.Patch(there, next)
	if err != nil {
		return err
	}
	if patch != nil {
		patch["metadata"] = map[string]any{"uid": p.UID}
		text, err := json.Marshal(patch)
		if err != nil {
			return err
		}
		err = m.pod(http.MethodPatch, p).SubResource("status").
			SetHeader("Content-Type", string(types.StrategicMergePatchType)).Body(text).Do(ctx).Into(there)
		if m.gone(err) || apierrors.IsConflict(err) {
			return nil // it was deleted in between
		}
		if err != nil {
			return err
		}
	}
	if !finished || pod.IsMirror(there) || !deletable(there, &there.Status) {
		return nil
	}
	err = m.pod(http.MethodDelete, p).Body(&metav1.DeleteOptions{
		GracePeriodSeconds: new(int64(0)), Preconditions: &metav1.Preconditions{UID: &p.UID},
	}).Do(ctx).Error()
	if m.gone(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// gone reports whether a request failed because the server has no such pod on this node. The Node
// authorizer answers Forbidden for a pod that was just deleted. A Forbidden answer for another node
// is a different failure.
func (m *Member) gone(err error) bool {
	return apierrors.IsNotFound(err) ||
		apierrors.IsForbidden(err) && strings.Contains(err.Error(), "no relationship found between node '"+m.name+"' and this object")
}

// deletable reports whether the API object of a finished pod can be removed: it is being deleted,
// and its phase is terminal.
func deletable(there *v1.Pod, st *v1.PodStatus) bool {
	return there.DeletionTimestamp != nil && pod.IsTerminal(st.Phase)
}

// pod returns a request about one pod.
func (m *Member) pod(method string, p *v1.Pod) *rest.Request {
	return m.cfg.Client.Request(method, v1.SchemeGroupVersion).Namespace(p.Namespace).Resource("pods").Name(p.Name)
}
