package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/internal/backoff"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// Waiting reasons of a container whose image is not there.
const (
	reasonInvalidName  = "InvalidImageName"
	reasonInspect      = "ImageInspectError"
	reasonNeverPull    = "ErrImageNeverPull"
	reasonPull         = "ErrImagePull"
	reasonBackOff      = "ImagePullBackOff"
	reasonRegistryAway = "RegistryUnavailable"
	reasonSignature    = "SignatureValidationFailed"
)

// Ensure makes a container's image present, as its pull policy says, and
// returns its ID. It may wait for other pulls and has no limit but ctx. Errors
// are *status.Fault with one of the reasons above, except where the runtime
// is away or ctx has ended; one that is backing off says when to try again.
func (r *Runtime) Ensure(ctx context.Context, p *v1.Pod, c *v1.Container) (string, error) {
	image, err := pod.CompleteImage(c.Image)
	if err != nil {
		return "", r.imageFault(p, c, reasonInvalidName, "InspectFailed", err)
	}
	if c.ImagePullPolicy != v1.PullAlways {
		found, err := r.imageStatus(ctx, image)
		if err != nil {
			if interrupted(err) {
				return "", err
			}
			return "", r.imageFault(p, c, reasonInspect, "InspectFailed", err)
		}
		if found != nil {
			r.presentEvent(p, c, image)
			return found.GetId(), nil
		}
		if c.ImagePullPolicy == v1.PullNever {
			err := fmt.Errorf("image %q is not present and its pull policy is Never; load it, or use IfNotPresent", image)
			return "", r.imageFault(p, c, reasonNeverPull, reasonNeverPull, err)
		}
	}
	return r.pull(ctx, p, c, image)
}

// pull pulls an image unless it failed too recently.
func (r *Runtime) pull(ctx context.Context, p *v1.Pod, c *v1.Container, image string) (string, error) {
	key := pullKey{uid: p.UID, image: image}
	if failure, waits := r.pulls.backingOff(key); waits {
		err := fmt.Errorf("backing off pulling image %q: %w", image, failure.err)
		status.ContainerEvent(r.config.Events, p, c.Name, v1.EventTypeNormal, "BackOff", sentence(err))
		return "", &status.Fault{Reason: reasonBackOff, RetryAt: failure.retryAt(), Err: err}
	}
	asked := r.config.Now()
	status.ContainerEvent(r.config.Events, p, c.Name, v1.EventTypeNormal, "Pulling", fmt.Sprintf("Pulling image %q", image))
	done, err := r.pulls.acquire(ctx)
	if err != nil {
		return "", fmt.Errorf("wait to pull image %q: %w", image, err)
	}
	defer done()

	// The pull before this one may have been of the same image.
	if c.ImagePullPolicy != v1.PullAlways {
		if found, err := r.imageStatus(ctx, image); err == nil && found != nil {
			r.presentEvent(p, c, image)
			return found.GetId(), nil
		}
	}
	began := r.config.Now()
	answer, err := r.images.PullImage(ctx, &runtimeapi.PullImageRequest{Image: &runtimeapi.ImageSpec{Image: image}})
	if err != nil {
		err := fmt.Errorf("pull image %q: %w", image, err)
		if interrupted(err) {
			return "", err
		}
		fault := r.imageFault(p, c, pullReason(err), "Failed", err)
		r.pulls.recordFailure(key, fault)
		return "", fault
	}
	r.pulls.recordSuccess(key)
	ref := answer.GetImageRef()
	r.pulledEvent(ctx, p, c, image, ref, asked, began)
	return ref, nil
}

// imageStatus is a present image, nil where it is absent.
func (r *Runtime) imageStatus(ctx context.Context, image string) (*runtimeapi.Image, error) {
	answer, err := r.images.ImageStatus(ctx, &runtimeapi.ImageStatusRequest{Image: &runtimeapi.ImageSpec{Image: image}})
	if err != nil {
		return nil, fmt.Errorf("inspect image %q: %w", image, err)
	}
	return answer.GetImage(), nil
}

// imageUser returns as which user an image runs: by name where it says one, else by number, which is 0 where it says
// nothing.
func (r *Runtime) imageUser(ctx context.Context, ref string) (uid int64, user string, err error) {
	answer, err := r.images.ImageStatus(ctx, &runtimeapi.ImageStatusRequest{Image: &runtimeapi.ImageSpec{Image: ref}})
	switch image := answer.GetImage(); {
	case err != nil:
		return 0, "", err
	case image == nil:
		return 0, "", errors.New("the image is gone")
	case image.GetUid() != nil:
		return image.GetUid().GetValue(), "", nil
	default:
		return 0, image.GetUsername(), nil
	}
}

func (r *Runtime) presentEvent(p *v1.Pod, c *v1.Container, image string) {
	status.ContainerEvent(r.config.Events, p, c.Name, v1.EventTypeNormal, "Pulled", fmt.Sprintf("Image %q is present on the node", image))
}

func (r *Runtime) pulledEvent(ctx context.Context, p *v1.Pod, c *v1.Container, image, ref string, asked, began time.Time) {
	now := r.config.Now()
	size := "of unknown size"
	if found, err := r.imageStatus(ctx, ref); err == nil && found != nil {
		size = fmt.Sprintf("%d bytes", found.GetSize())
	}
	status.ContainerEvent(r.config.Events, p, c.Name, v1.EventTypeNormal, "Pulled", fmt.Sprintf("Pulled image %q in %s (%s with waiting), %s",
		image, now.Sub(began).Round(time.Millisecond), now.Sub(asked).Round(time.Millisecond), size))
}

// imageFault makes an event and a fault of an error.
func (r *Runtime) imageFault(p *v1.Pod, c *v1.Container, reason, event string, err error) *status.Fault {
	status.ContainerEvent(r.config.Events, p, c.Name, v1.EventTypeWarning, event, sentence(err))
	return &status.Fault{Reason: reason, Err: err}
}

// pullReason is ErrImagePull, or the reason the runtime begins its message
// with.
func pullReason(err error) string {
	if e, ok := errors.AsType[*callError](err); ok {
		for _, reason := range []string{reasonRegistryAway, reasonSignature} {
			if strings.HasPrefix(e.status.Message(), reason) {
				return reason
			}
		}
	}
	return reasonPull
}

// sentence returns an error's text as the sentence of an event.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:]
}

// How long a pod waits after failing to pull an image: the first time, and at
// most. It starts anew when the last failure is twice the most ago.
const (
	pullBackOff    = 10 * time.Second
	pullBackOffMax = 300 * time.Second
)

// pullQueue lets images be pulled one at a time, in the order they were asked for, and
// records failures.
type pullQueue struct {
	now   func() time.Time
	token chan struct{} // has one value, which a pull takes while it runs

	mu       sync.Mutex
	failures map[pullKey]pullFailure
}

type pullKey struct {
	uid   types.UID
	image string
}

type pullFailure struct {
	at    time.Time
	delay time.Duration
	err   error
}

// retryAt returns when the next try may be made.
func (f pullFailure) retryAt() time.Time { return f.at.Add(f.delay) }

func newPullQueue(now func() time.Time) *pullQueue {
	p := &pullQueue{now: now, token: make(chan struct{}, 1), failures: map[pullKey]pullFailure{}}
	p.token <- struct{}{}
	return p
}

// acquire waits until this pull may begin. Unless it fails, done must be called.
func (p *pullQueue) acquire(ctx context.Context) (done func(), err error) {
	select {
	case <-p.token:
		return func() { p.token <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// backingOff returns the failure after which a pull must still wait.
func (p *pullQueue) backingOff(key pullKey) (pullFailure, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, ok := p.failures[key]
	return f, ok && p.now().Sub(f.at) < f.delay
}

// recordFailure records a failure: the next try waits twice as long as this one did.
func (p *pullQueue) recordFailure(key pullKey, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	for k, f := range p.failures {
		if now.Sub(f.at) > 2*pullBackOffMax {
			delete(p.failures, k)
		}
	}
	delay := backoff.Exponential{Min: pullBackOff, Max: pullBackOffMax}.Next(p.failures[key].delay)
	p.failures[key] = pullFailure{at: now, delay: delay, err: err}
}

func (p *pullQueue) recordSuccess(key pullKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.failures, key)
}

// How many images a node's status lists, and how many names of each, as with a kubelet.
const (
	maxNodeImages = 50
	maxImageNames = 5
)

// NodeImages returns the images of the node, the largest first, as its status lists them.
func (r *Runtime) NodeImages(ctx context.Context) ([]v1.ContainerImage, error) {
	answer, err := r.images.ListImages(ctx, &runtimeapi.ListImagesRequest{})
	if err != nil {
		return nil, fmt.Errorf("list images: %w", err)
	}
	var images []v1.ContainerImage
	for _, i := range answer.GetImages() {
		names := slices.Concat(i.GetRepoDigests(), i.GetRepoTags())
		if len(names) == 0 {
			continue // an image without a name cannot be asked for
		}
		images = append(images, v1.ContainerImage{Names: names[:min(len(names), maxImageNames)], SizeBytes: int64(i.GetSize())})
	}
	slices.SortFunc(images, func(a, b v1.ContainerImage) int {
		return cmp.Or(cmp.Compare(b.SizeBytes, a.SizeBytes), slices.Compare(a.Names, b.Names))
	})
	return images[:min(len(images), maxNodeImages)], nil
}
