package image

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/internal/turns"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// Waiting reasons of a container whose image is not present.
const (
	reasonInvalidName = "InvalidImageName"
	reasonInspect     = "ImageInspectError"
	reasonNeverPull   = "ErrImageNeverPull"
	reasonPull        = "ErrImagePull"
	reasonBackOff     = "ImagePullBackOff"
)

// Runtime is the image service of a container runtime, with its information about containers.
type Runtime interface {
	// Image returns the image with the name, digest or ID ref, nil if it is not present.
	Image(ctx context.Context, ref string) (*pod.Image, error)
	// PullImage pulls an image with a credential, nil for none, and returns its ID. It has no
	// timeout but that of ctx. Errors are *status.Fault, except if the runtime is unavailable or
	// ctx was cancelled.
	PullImage(ctx context.Context, name string, auth *pod.RegistryAuth) (id string, err error)
	// ImageStoreBytes returns how much of the image file system is used.
	ImageStoreBytes(ctx context.Context) (int64, error)
	// LastImage returns the ID of the image that a container of the pod ran last under the same
	// image name, "" for none.
	LastImage(ctx context.Context, p *v1.Pod, c *v1.Container) (id string, err error)
}

// Config holds the settings and dependencies of a Puller. All fields but Credentials and Prepull
// are required.
type Config struct {
	Runtime Runtime
	// Credentials are the credentials of the node, nil for none.
	Credentials Credentials
	Records     Store
	// Owner returns the tenant of a pod, "" for the operator.
	Owner func(p *v1.Pod) string
	// Parallel is how many images of one owner are pulled at a time; positive.
	Parallel int
	// ProgressTimeout is how long a pull may continue without progress; positive.
	ProgressTimeout time.Duration
	// OfflineFallback allows pods with imagePullPolicy Always to use the image that they ran last
	// while its registry cannot be reached.
	OfflineFallback bool
	// Offline reports whether the API server does not answer, nil for never. Then the network may be
	// away, and a pull that has a fallback ends after offlineTimeout without progress.
	Offline func() bool
	// Prepull are the names of the images that Run pulls.
	Prepull []string
	Events  status.Recorder
	Log     *slog.Logger
	// Now is the wall clock.
	Now func() time.Time
}

// Credentials returns the credentials of the node and of pods.
type Credentials interface {
	// For returns the credentials for an image of a pod, nil for none, in the order in which they
	// are tried. The error says which sources failed; credentials of the others are returned with
	// it.
	For(ctx context.Context, p *v1.Pod, name string) ([]pod.RegistryAuth, error)
}

// Puller makes images present. New makes one.
type Puller struct {
	cfg      Config
	places   *turns.Turns // by owner
	images   *turns.Turns // by owner and image: if many pods need one image, one of them pulls it
	failures *failures
	records  *records
	pulls    pulls
}

// New returns a Puller with the records of earlier pulls.
func New(cfg Config) *Puller {
	if cfg.Credentials == nil {
		cfg.Credentials = noCredentials{}
	}
	return &Puller{
		cfg: cfg, places: turns.New(cfg.Parallel), images: turns.New(1),
		failures: newFailures(cfg.Now), records: loadRecords(cfg.Records, cfg.Log),
	}
}

type noCredentials struct{}

func (noCredentials) For(context.Context, *v1.Pod, string) ([]pod.RegistryAuth, error) {
	return nil, nil
}

// request is a container that needs an image.
type request struct {
	pod       *v1.Pod
	container *v1.Container
	// name is the name of the image, with a tag or digest.
	name  string
	owner string
}

// Ensure makes a container's image present, according to its pull policy, and returns its ID. It
// may wait for other pulls of the same owner. Errors are *status.Fault with one of the reasons
// above or of the runtime, except if the runtime is unavailable or ctx is done. A back-off fault
// has the time of the next try.
func (u *Puller) Ensure(ctx context.Context, p *v1.Pod, c *v1.Container) (string, error) {
	name, err := pod.CompleteImage(c.Image)
	r := &request{pod: p, container: c, name: name, owner: u.cfg.Owner(p)}
	if err != nil {
		return "", u.fault(r, reasonInvalidName, "InspectFailed", err)
	}
	if c.ImagePullPolicy != v1.PullAlways {
		id, hidden, err := u.present(ctx, r)
		switch {
		case err != nil && interrupted(ctx, err):
			return "", err
		case err != nil:
			return "", u.fault(r, reasonInspect, "InspectFailed", err)
		case id != "":
			return id, nil
		case c.ImagePullPolicy == v1.PullNever:
			return "", u.fault(r, reasonNeverPull, reasonNeverPull, neverError(name, hidden))
		}
	}
	return u.pull(ctx, r)
}

func neverError(name string, hidden bool) error {
	if hidden {
		return fmt.Errorf("image %q was pulled with credentials that this pod does not have, and its pull policy is Never; use IfNotPresent, which verifies its own", name)
	}
	return fmt.Errorf("image %q is not present and its pull policy is Never; load it, or use IfNotPresent", name)
}

// present returns the ID of an image that the pod may use without a pull, "" for none. hidden
// reports whether the image is present but the pod may not use it.
func (u *Puller) present(ctx context.Context, r *request) (id string, hidden bool, err error) {
	found, err := u.cfg.Runtime.Image(ctx, r.name)
	if err != nil || found == nil {
		return "", false, err
	}
	if !u.records.usable(found.ID, r.name, r.owner, func() []pod.RegistryAuth {
		auths, _ := u.cfg.Credentials.For(ctx, r.pod, r.name) // errors are reported by the pull that follows
		return auths
	}) {
		return "", true, nil
	}
	status.ContainerEvent(u.cfg.Events, r.pod, r.container.Name, v1.EventTypeNormal, "Pulled", fmt.Sprintf("Image %q is present on the node", r.name))
	return found.ID, false, nil
}

// fault records an event and returns the fault.
func (u *Puller) fault(r *request, reason, event string, err error) *status.Fault {
	status.ContainerEvent(u.cfg.Events, r.pod, r.container.Name, v1.EventTypeWarning, event, sentence(err))
	return &status.Fault{Reason: reason, Err: err}
}

// sentence returns an error's text with a capital letter, for an event.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:]
}

// interrupted reports whether err is unrelated to the image: the runtime is unavailable, or ctx is
// done.
func interrupted(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, status.ErrRuntimeUnavailable) || errors.Is(err, context.Canceled)
}
