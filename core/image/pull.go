package image

import (
	"context"
	"errors"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// offlineTimeout is the ProgressTimeout of a pull that has a fallback while the API server does not
// answer. After a boot it begins anew for as long as the starts of other pods write to the disk of the
// images. A runtime waits for half a minute for a network that is away.
const offlineTimeout = 5 * time.Second

// pull pulls an image unless it failed too recently.
func (u *Puller) pull(ctx context.Context, r *request) (string, error) {
	key := failureKey{uid: r.pod.UID, image: r.name}
	if failure, waits := u.failures.waiting(key); waits {
		if id := u.fallBack(ctx, r, failure.err); id != "" {
			return id, nil
		}
		err := fmt.Errorf("backing off pulling image %q: %w", r.name, failure.err)
		status.ContainerEvent(u.cfg.Events, r.pod, r.container.Name, v1.EventTypeNormal, "BackOff", sentence(err))
		return "", &status.Fault{Reason: reasonBackOff, RetryAt: failure.retryAt(), Err: err}
	}
	away := failureKey{owner: r.owner, image: r.name}
	if id := u.fallBackWith(ctx, r, away); id != "" {
		return id, nil
	}
	asked := u.cfg.Now()
	status.ContainerEvent(u.cfg.Events, r.pod, r.container.Name, v1.EventTypeNormal, "Pulling", fmt.Sprintf("Pulling image %q", r.name))
	waiting := u.pulls.add(r, asked)
	defer u.pulls.remove(waiting)
	done, err := u.turn(ctx, r)
	if err != nil {
		return "", err
	}
	defer done()
	// A pull that waits as long as the registry hangs must not be followed by one for each other pod.
	if id := u.fallBackWith(ctx, r, away); id != "" {
		return id, nil
	}

	// The previous pull may have been of the same image.
	if r.container.ImagePullPolicy != v1.PullAlways {
		if id, _, err := u.present(ctx, r); err == nil && id != "" {
			return id, nil
		}
	}
	if u.cfg.Offline != nil && u.cfg.Offline() && u.ranLast(ctx, r) != "" {
		waiting.limit = min(offlineTimeout, u.cfg.ProgressTimeout)
	}
	began := u.cfg.Now()
	waiting.begin(began)
	id, err := u.pullNow(ctx, r.pod, r.name, r.owner, waiting)
	if err != nil {
		return u.failed(ctx, r, err)
	}
	u.failures.forget(key)
	u.failures.forget(away)
	u.pulledEvent(ctx, r, id, asked, began)
	return id, nil
}

// turn waits until the pod's owner may pull the image. If it succeeds, done must be called.
func (u *Puller) turn(ctx context.Context, r *request) (done func(), err error) {
	free, ok := u.images.Take(ctx, r.owner+"\x00"+r.name)
	if !ok {
		return nil, fmt.Errorf("wait to pull image %q: %w", r.name, ctx.Err())
	}
	leave, ok := u.places.Take(ctx, r.owner)
	if !ok {
		free()
		return nil, fmt.Errorf("wait to pull image %q: %w", r.name, ctx.Err())
	}
	return func() { leave(); free() }, nil
}

// pullNow pulls an image for a pod, nil for none, with one credential after the other, as a kubelet
// does. If there is no credential, it pulls without one.
func (u *Puller) pullNow(ctx context.Context, p *v1.Pod, name, owner string, waiting *pending) (id string, err error) {
	found, unread := u.cfg.Credentials.For(ctx, p, name)
	auths := make([]*pod.RegistryAuth, 0, len(found)+1)
	for i := range found {
		auths = append(auths, &found[i])
	}
	if len(auths) == 0 {
		auths = append(auths, nil)
	}
	for _, auth := range auths {
		u.records.begin(name, auth)
		id, err = u.watched(ctx, name, auth, waiting)
		if err == nil {
			u.records.pulled(ctx, id, name, owner, auth, u.cfg.Runtime)
			return id, nil
		}
		u.records.failed(name, auth)
		if interrupted(ctx, err) || classify(err).away {
			break
		}
	}
	if interrupted(ctx, err) {
		return "", err
	}
	return "", advised(err, unread)
}

// failed records a failure. If the fallback is allowed, it returns the image that the container ran
// last.
func (u *Puller) failed(ctx context.Context, r *request, err error) (string, error) {
	if interrupted(ctx, err) {
		return "", err
	}
	reason := reasonPull
	if f, ok := errors.AsType[*status.Fault](err); ok {
		reason, err = f.Reason, f.Err
	}
	fault := &status.Fault{Reason: reason, Err: err}
	u.failures.add(failureKey{uid: r.pod.UID, image: r.name}, fault)
	if classify(fault).away {
		u.failures.add(failureKey{owner: r.owner, image: r.name}, fault)
	}
	if id := u.fallBack(ctx, r, fault); id != "" {
		return id, nil
	}
	return "", u.fault(r, reason, "Failed", err)
}

// fallBackWith returns the image that the container ran last if the registry could not be reached
// recently, for another pod of the same owner, else "".
func (u *Puller) fallBackWith(ctx context.Context, r *request, away failureKey) string {
	failure, recent := u.failures.waiting(away)
	if !recent {
		return ""
	}
	return u.fallBack(ctx, r, failure.err)
}

// fallBack returns the ID of the image that the container ran last, if it may run that while the
// registry cannot be reached, else "".
func (u *Puller) fallBack(ctx context.Context, r *request, failure error) string {
	if !classify(failure).away {
		return ""
	}
	id := u.ranLast(ctx, r)
	if id != "" {
		status.ContainerEvent(u.cfg.Events, r.pod, r.container.Name, v1.EventTypeWarning, "OfflinePull",
			fmt.Sprintf("Container %s runs image %s again, which it ran last: %v", r.container.Name, id, failure))
	}
	return id
}

// ranLast returns the ID of the image that the container ran last and may run without its registry, ""
// for none.
func (u *Puller) ranLast(ctx context.Context, r *request) string {
	if !u.cfg.OfflineFallback || r.container.ImagePullPolicy != v1.PullAlways {
		return ""
	}
	id, err := u.cfg.Runtime.LastImage(ctx, r.pod, r.container)
	if err != nil || id == "" {
		return ""
	}
	found, err := u.cfg.Runtime.Image(ctx, id)
	if err != nil || found == nil {
		return ""
	}
	return found.ID
}

func (u *Puller) pulledEvent(ctx context.Context, r *request, id string, asked, began time.Time) {
	now := u.cfg.Now()
	size := "of unknown size"
	if found, err := u.cfg.Runtime.Image(ctx, id); err == nil && found != nil {
		size = fmt.Sprintf("%d bytes", found.SizeBytes)
	}
	status.ContainerEvent(u.cfg.Events, r.pod, r.container.Name, v1.EventTypeNormal, "Pulled", fmt.Sprintf("Pulled image %q in %s (%s with waiting), %s",
		r.name, now.Sub(began).Round(time.Millisecond), now.Sub(asked).Round(time.Millisecond), size))
}
