package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

const (
	// mirrorPause is the minimum time between two comparisons of static pods and mirror pods.
	mirrorPause = time.Second
	// firstMirrorRetry and lastMirrorRetry are the times between attempts to create or delete a mirror
	// pod while the API server refuses.
	firstMirrorRetry = time.Second
	lastMirrorRetry  = time.Minute
)

// reasonMirror is the reason of the event about a static pod whose mirror pod is refused.
const reasonMirror = "FailedMirrorPod"

// Statics are the static pods of this node. The methods do not block.
type Statics interface {
	// All returns the static pods that have a status, in no order. complete is false while a source has
	// not answered, so that more pods may come.
	All() (pods []*v1.Pod, complete bool)
	// Wanted reports whether an admitted static pod has that name, also one without a status: after a
	// start of the agent no pod has one until the runtime answers.
	Wanted(name types.NamespacedName) bool
	// Mirrors returns the mirror pods on this node that the API server had when it was last read.
	Mirrors() []*v1.Pod
	// Ends reports whether a static pod that no source wants has not ended yet.
	Ends(uid types.UID) bool
	// Event records an event about a static pod.
	Event(p *v1.Pod, kind, reason, message string)
}

// mirror is what is known of the mirror pod of a static pod.
type mirror struct {
	// static is the static pod; there is the mirror pod at the API server, nil if there is none.
	static, there *v1.Pod
	// deleted is the UID of a mirror pod that this agent deleted, which Statics.Mirrors may still have.
	deleted types.UID
	// due is the time before which nothing is tried again, delay the time to the next attempt after
	// that. told is the last refusal with an event.
	due   time.Time
	delay time.Duration
	told  string
}

// mirrorPods keeps one mirror pod for each static pod at the API server until ctx is done.
func (m *Member) mirrorPods(ctx context.Context) {
	if m.cfg.Statics == nil {
		return
	}
	select {
	case <-m.registered:
	case <-ctx.Done():
		return
	}
	problems := &trouble{log: m.log, what: "mirror pod"}
	pass := time.NewTicker(fullPass)
	defer pass.Stop()
	for {
		m.mirrorAll(ctx, problems)
		if !sleep(ctx, mirrorPause, 0) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-m.mirrorsChanged:
		case <-pass.C:
		}
	}
}

// mirrorAll compares static pods and mirror pods once, and changes the mirror pods accordingly.
func (m *Member) mirrorAll(ctx context.Context, problems *trouble) {
	node := m.serverCopy()
	statics, complete := m.cfg.Statics.All()
	if node == nil || node.DeletionTimestamp != nil {
		return
	}
	there := map[types.NamespacedName]*v1.Pod{}
	for _, p := range m.cfg.Statics.Mirrors() {
		there[nameOf(p)] = p
	}
	known := map[types.NamespacedName]*mirror{}
	failed := 0
	for name, p := range m.onePerName(statics) {
		is := m.mirrors[name]
		if is == nil || mirrorHash(is.static) != mirrorHash(p) {
			is = &mirror{}
		}
		is.static = p
		known[name] = is
		if err := m.mirrorOne(ctx, is, there[name], node); err != nil {
			problems.note(err)
		}
		if is.delay > 0 {
			failed++
		}
		delete(there, name)
	}
	for name, p := range there {
		if !complete {
			failed++ // a source that has not answered may have its static pod
			break
		}
		uid := types.UID(p.Annotations[pod.AnnotationMirror])
		old := m.mirrors[name]
		if old != nil {
			uid = old.static.UID // a manifest may name its own
		}
		if m.cfg.Statics.Wanted(name) || m.cfg.Statics.Ends(uid) {
			if old != nil {
				known[name] = old // its last status is still to come
			}
			continue
		}
		if err := m.deleteMirror(ctx, p); err != nil {
			failed++
			problems.note(&podError{pod: p, err: m.cfg.Client.Explain(err)})
		}
	}
	if failed == 0 && ctx.Err() == nil {
		problems.note(nil)
	}
	m.mirrors = known
	m.showMirrors(known)
}

// onePerName returns the static pods by name. Of two with one name, where one waits for the other, it
// returns the one that has started.
func (m *Member) onePerName(statics []*v1.Pod) map[types.NamespacedName]*v1.Pod {
	all := map[types.NamespacedName]*v1.Pod{}
	for _, p := range statics {
		first := all[nameOf(p)]
		if first == nil || !m.cfg.Pods.Started(first.UID) && (m.cfg.Pods.Started(p.UID) || p.UID < first.UID) {
			all[nameOf(p)] = p
		}
	}
	return all
}

// mirrorOne creates the mirror pod of a static pod, after deleting one that is of another version or
// is being deleted. seen is the mirror pod that was last read.
func (m *Member) mirrorOne(ctx context.Context, is *mirror, seen *v1.Pod, node *v1.Node) error {
	if seen != nil && seen.UID == is.deleted {
		seen = nil
	}
	if seen != nil && seen.DeletionTimestamp == nil && seen.Annotations[pod.AnnotationMirror] == mirrorHash(is.static) {
		is.there, is.delay, is.due = seen, 0, time.Time{}
		return nil
	}
	now := m.cfg.Now()
	if now.Before(is.due) && (seen == nil || is.delay > 0) {
		return nil
	}
	is.there = nil
	err := m.replaceMirror(ctx, is, seen, node)
	if err == nil {
		is.delay, is.due, is.told = 0, now.Add(fullPass), "" // until then, Statics.Mirrors may not have it
		return nil
	}
	is.delay = min(max(2*is.delay, firstMirrorRetry), lastMirrorRetry)
	is.due = now.Add(is.delay)
	var refusal apierrors.APIStatus
	refused := errors.As(err, &refusal)
	err = m.cfg.Client.Explain(err)
	if refused && err.Error() != is.told {
		is.told = err.Error()
		m.cfg.Statics.Event(is.static, v1.EventTypeWarning, reasonMirror, "The cluster does not show this pod: "+err.Error())
	}
	return &podError{pod: is.static, err: err}
}

// replaceMirror deletes the mirror pod seen, if it is not nil, and creates the one of a static pod.
func (m *Member) replaceMirror(ctx context.Context, is *mirror, seen *v1.Pod, node *v1.Node) error {
	if seen != nil {
		if err := m.deleteMirror(ctx, seen); err != nil {
			return err
		}
		is.deleted = seen.UID
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	next := mirrorOf(is.static, node)
	there := &v1.Pod{}
	err := m.cfg.Client.Request(http.MethodPost, v1.SchemeGroupVersion).Namespace(next.Namespace).Resource("pods").Body(next).Do(ctx).Into(there)
	if apierrors.IsAlreadyExists(err) {
		there = &v1.Pod{}
		if err := m.pod(http.MethodGet, next).Do(ctx).Into(there); err != nil {
			return err
		}
		if there.Annotations[pod.AnnotationMirror] != mirrorHash(is.static) || there.Spec.NodeName != node.Name {
			return fmt.Errorf("another pod has its name: %w", err)
		}
		err = nil
	}
	if err != nil {
		return err
	}
	is.there = there
	m.log.Info("mirror pod created", "pod", there.Namespace+"/"+there.Name, "uid", is.static.UID, "mirror", there.UID)
	return nil
}

// deleteMirror deletes a mirror pod at once. It is no error if the pod is gone.
func (m *Member) deleteMirror(ctx context.Context, p *v1.Pod) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err := m.pod(http.MethodDelete, p).Body(&metav1.DeleteOptions{
		GracePeriodSeconds: new(int64(0)), Preconditions: &metav1.Preconditions{UID: &p.UID},
	}).Do(ctx).Error()
	if m.gone(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// showMirrors lets the statuses of static pods be written to their mirror pods.
func (m *Member) showMirrors(known map[types.NamespacedName]*mirror) {
	shown := map[types.UID]report{}
	for _, is := range known {
		if is.there != nil {
			shown[is.static.UID] = report{there: is.there, here: is.static}
		}
	}
	m.mu.Lock()
	before := m.mirrored
	m.mirrored = shown
	m.mu.Unlock()
	for uid, r := range shown {
		if before[uid].there == nil || before[uid].there.UID != r.there.UID {
			m.owed.add(uid)
		}
	}
}

// Mirrored reports whether the API server has a mirror pod of the static pod with that UID.
func (m *Member) Mirrored(uid types.UID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, is := m.mirrored[uid]
	return is
}

// MirrorsChanged reports that a mirror pod or a static pod may have come, changed or gone. It does
// not block.
func (m *Member) MirrorsChanged() {
	select {
	case m.mirrorsChanged <- struct{}{}:
	default: // the one that waits says it too
	}
}

func nameOf(p *v1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
}
