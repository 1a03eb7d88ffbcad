package image

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	v1 "k8s.io/api/core/v1"

	wardlet "github.com/wardlet/wardlet/core/status"
	"github.com/wardlet/wardlet/test/fakecri"
)

func TestEnsure_followsThePullPolicy(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		policy             v1.PullPolicy
		present, published bool
		reason             string // "" is success
		pulls              int
		events             []string
	}{
		"IfNotPresent, present":   {policy: v1.PullIfNotPresent, present: true, events: []string{"Normal Pulled"}},
		"IfNotPresent, absent":    {policy: v1.PullIfNotPresent, published: true, pulls: 1, events: []string{"Normal Pulling", "Normal Pulled"}},
		"IfNotPresent, nowhere":   {policy: v1.PullIfNotPresent, reason: "ErrImagePull", pulls: 1, events: []string{"Normal Pulling", "Warning Failed"}},
		"no policy, present":      {present: true, events: []string{"Normal Pulled"}},
		"Always, present":         {policy: v1.PullAlways, present: true, published: true, pulls: 1, events: []string{"Normal Pulling", "Normal Pulled"}},
		"Always, present, no reg": {policy: v1.PullAlways, present: true, reason: "ErrImagePull", pulls: 1, events: []string{"Normal Pulling", "Warning Failed"}},
		"Never, present":          {policy: v1.PullNever, present: true, events: []string{"Normal Pulled"}},
		"Never, absent":           {policy: v1.PullNever, published: true, reason: "ErrImageNeverPull", events: []string{"Warning ErrImageNeverPull"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			if tc.present {
				r.cri.Load(appImage, 1000, fakecri.Program{})
			}
			if tc.published {
				r.cri.Publish(appImage, 1000, fakecri.Program{})
			}
			p := newPod("web")
			p.Spec.Containers[0].ImagePullPolicy = tc.policy
			ref, err := r.ensure(t, p)
			if tc.reason == "" {
				if err != nil {
					t.Fatal(err)
				}
				mustEqual(t, "ID", fakecri.ImageID(appImage), ref)
			} else {
				mustEqual(t, "reason", tc.reason, faultOf(t, err).Reason)
			}
			mustEqual(t, "pulls", tc.pulls, r.cri.Count("PullImage"))
			mustEqual(t, "events", tc.events, r.events.reasons())
		})
	}
}

// Events about an image name the container that is made from the image.
func TestEnsure_eventsAreAboutTheContainer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := newPod("web")
	want := []string{}
	ensure := func(name, image string, policy v1.PullPolicy, events ...string) {
		t.Helper()
		c := &v1.Container{Name: name, Image: image, ImagePullPolicy: policy}
		_, _ = r.Ensure(t.Context(), p, c)
		mustEqual(t, "events", events, r.events.reasons())
		for range events {
			want = append(want, name)
		}
		mustEqual(t, "containers", want, r.events.containers)
	}
	r.cri.Load(appImage, 1000, fakecri.Program{})
	ensure("present", appImage, v1.PullIfNotPresent, "Normal Pulled")
	ensure("never", "other", v1.PullNever, "Warning ErrImageNeverPull")
	ensure("invalid", "A", v1.PullAlways, "Warning InspectFailed")
	ensure("absent", "other", v1.PullAlways, "Normal Pulling", "Warning Failed")
	ensure("waits", "other", v1.PullAlways, "Normal BackOff")
	r.cri.Publish(appImage, 1000, fakecri.Program{})
	ensure("pulled", appImage, v1.PullAlways, "Normal Pulling", "Normal Pulled")
}

func TestEnsure_saysTimeAndSize(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cri.Publish(appImage, 4321, fakecri.Program{})
	r.cri.Before("PullImage", func(context.Context, any) error { r.clock.advance(1500 * time.Millisecond); return nil })
	if _, err := r.ensure(t, newPod("web")); err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "events", []string{
		`Normal Pulling: Pulling image "registry.example/app:1"`,
		`Normal Pulled: Pulled image "registry.example/app:1" in 1.5s (1.5s with waiting), 4321 bytes`,
	}, r.events.take())
}

func TestEnsure_faults(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		image   string
		method  string
		err     error
		reason  string
		message string
	}{
		"a name that is none": {
			image: "App:1", reason: "InvalidImageName", message: `image "App:1" is not a name of the form`,
		},
		"an image that cannot be inspected": {
			image: appImage, method: "ImageStatus", err: status.Error(codes.Unknown, "store is corrupt"),
			reason: "ImageInspectError", message: `inspect image "registry.example/app:1": store is corrupt`,
		},
		"the registry is away, says the runtime": {
			image: appImage, method: "PullImage", err: status.Error(codes.Unknown, "RegistryUnavailable: no route"),
			reason: "RegistryUnavailable", message: "no route",
		},
		"the signature does not match": {
			image: appImage, method: "PullImage", err: status.Error(codes.Unknown, "SignatureValidationFailed: no key"),
			reason: "SignatureValidationFailed", message: "no key",
		},
		"the registry answers 503": {
			image: appImage, method: "PullImage", err: status.Error(codes.Unavailable, "unexpected status 503"),
			reason: "ErrImagePull", message: `pull image "registry.example/app:1": unexpected status 503`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			if tc.method != "" {
				r.cri.Fail(tc.method, tc.err)
			}
			p := newPod("web")
			p.Spec.Containers[0].Image = tc.image
			_, err := r.ensure(t, p)
			fault := faultOf(t, err)
			mustEqual(t, "reason", tc.reason, fault.Reason)
			expectError(t, fault.Err, tc.message)
			if !fault.RetryAt.IsZero() {
				t.Errorf("retry at %v: only backing off says when", fault.RetryAt)
			}
		})
	}
}

func TestEnsure_defaultsToTheTagLatest(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cri.Publish("registry.example/app:latest", 1, fakecri.Program{})
	p := newPod("web")
	p.Spec.Containers[0].Image = "registry.example/app"
	if _, err := r.ensure(t, p); err != nil {
		t.Error(err)
	}
}

func TestEnsure_backsOff(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := newPod("web")
	for _, wait := range []int{10, 20, 40, 80, 160, 300, 300} {
		delay := time.Duration(wait) * time.Second
		_, err := r.ensure(t, p)
		mustEqual(t, "reason of a try", "ErrImagePull", faultOf(t, err).Reason)
		until := r.clock.Now().Add(delay)

		r.clock.advance(delay - time.Millisecond)
		pulls := r.cri.Count("PullImage")
		_, err = r.ensure(t, p)
		fault := faultOf(t, err)
		mustEqual(t, "reason while waiting", "ImagePullBackOff", fault.Reason)
		mustEqual(t, "retry", until, fault.RetryAt)
		expectError(t, fault.Err, `backing off pulling image "registry.example/app:1": ErrImagePull: pull image`, "not found")
		mustEqual(t, "pulls while waiting", pulls, r.cri.Count("PullImage"))
		r.clock.advance(time.Millisecond)
	}
	r.events.take()
	_, _ = r.ensure(t, p)
	_, _ = r.ensure(t, p)
	mustEqual(t, "events", []string{"Normal Pulling", "Warning Failed", "Normal BackOff"}, r.events.reasons())
}

func TestEnsure_backsOffByPodAndImage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	_, err := r.ensure(t, newPod("web"))
	mustEqual(t, "reason", "ErrImagePull", faultOf(t, err).Reason)
	_, err = r.ensure(t, newPod("db"))
	mustEqual(t, "another pod's", "ErrImagePull", faultOf(t, err).Reason)
	p := newPod("web")
	p.Spec.Containers[0].Image = "registry.example/app:2"
	_, err = r.ensure(t, p)
	mustEqual(t, "another image's", "ErrImagePull", faultOf(t, err).Reason)
}

func TestEnsure_backOffStartsAnew(t *testing.T) {
	t.Parallel()
	wait := func(r *rig, p *v1.Pod) time.Duration {
		t.Helper()
		if _, err := r.ensure(t, p); faultOf(t, err).Reason != "ErrImagePull" {
			t.Fatal(err)
		}
		_, err := r.ensure(t, p)
		return faultOf(t, err).RetryAt.Sub(r.clock.Now())
	}
	r := newRig(t)
	p := newPod("web")
	p.Spec.Containers[0].ImagePullPolicy = v1.PullAlways
	mustEqual(t, "first", 10*time.Second, wait(r, p))
	r.clock.advance(10 * time.Second)
	mustEqual(t, "second", 20*time.Second, wait(r, p))

	r.clock.advance(20 * time.Second)
	r.cri.Publish(appImage, 1, fakecri.Program{})
	if _, err := r.ensure(t, p); err != nil {
		t.Fatal(err)
	}
	r.cri.Fail("PullImage", status.Error(codes.Unknown, "no"))
	mustEqual(t, "after a success", 10*time.Second, wait(r, p))
	r.clock.advance(601 * time.Second)
	mustEqual(t, "after twice the longest wait", 10*time.Second, wait(r, p))
}

func TestEnsure_runtimeAwayIsNoFailure(t *testing.T) {
	t.Parallel()
	for _, policy := range []v1.PullPolicy{v1.PullAlways, v1.PullIfNotPresent} {
		r := newRig(t)
		r.cri.Publish(appImage, 1, fakecri.Program{})
		p := newPod("web")
		p.Spec.Containers[0].ImagePullPolicy = policy
		r.cri.Stop()
		_, err := r.ensure(t, p)
		expectError(t, err, "does not answer")
		if _, ok := errors.AsType[*wardlet.Fault](err); ok {
			t.Errorf("%s: %v is a fault", policy, err)
		}
		if _, waits := r.failures.waiting(failureKey{uid: p.UID, image: appImage}); waits {
			t.Errorf("%s: the pod backs off", policy)
		}
	}
}

func TestEnsure_onePodPullsForMany(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cri.Publish(appImage, 1, fakecri.Program{})
	r.cri.Delay("PullImage", 50*time.Millisecond)
	var done sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d"} {
		p := newPod(name)
		done.Go(func() {
			if _, err := r.Ensure(t.Context(), p, &p.Spec.Containers[0]); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	mustEqual(t, "pulls", 1, r.cri.Count("PullImage"))
}
