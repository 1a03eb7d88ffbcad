package image

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/test/fakecri"
)

// ran returns a rig, and a pod whose container has run its image.
func ran(t *testing.T) (*rig, *v1.Pod) {
	t.Helper()
	r := newRig(t)
	r.cri.Publish(appImage, 1000, fakecri.Program{})
	p := newPod("web")
	p.Spec.Containers[0].ImagePullPolicy = v1.PullAlways
	run(t, r, p)
	return r, p
}

// run pulls the image of a pod and starts the pod.
func run(t *testing.T, r *rig, p *v1.Pod) {
	t.Helper()
	ref, err := r.ensure(t, p)
	if err != nil {
		t.Fatal(err)
	}
	sandbox := pod.SandboxRun{Pod: p}
	id, err := r.runtime.RunSandbox(t.Context(), sandbox)
	if err != nil {
		t.Fatal(err)
	}
	container := pod.ContainerRun{Pod: p, Container: &p.Spec.Containers[0], Sandbox: sandbox, SandboxID: id, SandboxIPs: []string{"10.88.0.3"}, ImageRef: ref}
	if _, err := r.runtime.StartContainer(t.Context(), container); err != nil {
		t.Fatal(err)
	}
	r.events.take()
}

const (
	unreachable = `failed to resolve reference "registry.example/app:1": failed to do request: Head "https://registry.example/v2/app/manifests/1": dial tcp: lookup registry.example: no such host`
	refused     = `failed to resolve reference "registry.example/app:1": unexpected status from HEAD request to https://registry.example/v2/app/manifests/1: 403 Forbidden`
)

func TestOfflinePull(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer string
		change func(r *rig, p *v1.Pod)
		reason string // "" if the image that ran is used
	}{
		"a registry that cannot be reached":          {answer: unreachable},
		"a registry that is out of service":          {answer: "unexpected status from HEAD request: 503 Service Unavailable"},
		"a registry that says no":                    {answer: refused, reason: "ErrImagePull"},
		"a registry that says no in another's words": {answer: refused + ": dial tcp: no such host", reason: "ErrImagePull"},
		"a registry that does not have it":           {answer: "registry.example/app:1: not found", reason: "ErrImagePull"},
		"a registry of an untrusted certificate":     {answer: `failed to do request: Head "x": tls: failed to verify certificate: x509: certificate signed by unknown authority`, reason: "ErrImagePull"},
		"a pod that never ran it": {answer: unreachable, reason: "ErrImagePull", change: func(_ *rig, p *v1.Pod) {
			p.UID = "another"
		}},
		"a pod that ran another image": {answer: unreachable, reason: "ErrImagePull", change: func(_ *rig, p *v1.Pod) {
			p.Spec.Containers[0].Image = "registry.example/app:2"
		}},
		"an image that is gone": {answer: unreachable, reason: "ErrImagePull", change: func(r *rig, _ *v1.Pod) {
			r.cri.Unload(appImage)
		}},
		"offline_pull is never": {answer: unreachable, reason: "ErrImagePull", change: func(r *rig, _ *v1.Pod) {
			r.cfg.OfflineFallback = false
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, p := ran(t)
			r.cri.Fail("PullImage", status.Error(codes.Unknown, test.answer))
			if test.change != nil {
				p = p.DeepCopy()
				test.change(r, p)
			}
			ref, err := r.ensure(t, p)
			if test.reason != "" {
				mustEqual(t, "reason", test.reason, faultOf(t, err).Reason)
				mustEqual(t, "events", []string{"Normal Pulling", "Warning Failed"}, r.events.reasons())
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			mustEqual(t, "image", fakecri.ImageID(appImage), ref)
			mustEqual(t, "events", []string{"Normal Pulling", "Warning OfflinePull"}, r.events.reasons())
		})
	}
}

// While a registry is unreachable, a container that restarts does not wait for the registry each
// time.
func TestOfflinePull_asksTheRegistryWithBackOff(t *testing.T) {
	t.Parallel()
	r, p := ran(t)
	r.cri.Fail("PullImage", status.Error(codes.Unknown, unreachable))
	r.cri.ForgetCalls()
	for range 5 {
		if _, err := r.ensure(t, p); err != nil {
			t.Fatal(err)
		}
	}
	mustEqual(t, "pulls", 1, r.cri.Count("PullImage"))
	r.cri.Clear("PullImage")
	r.clock.advance(pullBackOff)
	if _, err := r.ensure(t, p); err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "pulls when it is back", 2, r.cri.Count("PullImage"))
}

// A registry that does not answer is asked once for all pods that ran the image. A pod that never ran
// it asks for itself.
func TestOfflinePull_oncePerImage(t *testing.T) {
	t.Parallel()
	r, p := ran(t)
	second := p.DeepCopy()
	second.UID, second.Name = "second", "second"
	run(t, r, second)
	r.cri.Fail("PullImage", status.Error(codes.Unknown, unreachable))
	r.cri.ForgetCalls()
	for _, p := range []*v1.Pod{p, second, p} {
		if _, err := r.ensure(t, p); err != nil {
			t.Fatal(err)
		}
	}
	mustEqual(t, "pulls", 1, r.cri.Count("PullImage"))
	third := p.DeepCopy()
	third.UID = "third"
	if _, err := r.ensure(t, third); err == nil {
		t.Error("a pod that never ran the image has it")
	}
	mustEqual(t, "pulls with a pod that never ran it", 2, r.cri.Count("PullImage"))
	r.cri.Clear("PullImage")
	r.clock.advance(2 * pullBackOff)
	if _, err := r.ensure(t, second); err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "pulls when it is back", 3, r.cri.Count("PullImage"))
}

func TestEnsure_saysWhatToDo(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		"unexpected status from HEAD request: 401 Unauthorized":                                                                             "set runtime.registry_config or runtime.credential_provider_config",
		"pull access denied, repository does not exist or may require authorization: server message: x":                                     "set runtime.registry_config",
		"registry.example/app:1: not found":                                                                                                 "correct the name or tag",
		"unexpected status from GET request: 429 Too Many Requests":                                                                         "the registry limits how much is pulled",
		"failed to copy: httpReadSeeker: failed open: unexpected EOF":                                                                       "the registry sent only a part of the image",
		"failed commit on ref \"layer-sha256:1\": unexpected commit size 5, expected 10":                                                    "the registry sent only a part of the image",
		"write /var/lib/containerd/ingest/1/data: no space left on device":                                                                  "the disk of the images is full: free some of it",
		"failed to copy: httpReadSeeker: failed open: failed to do request: Get \"x\": dial tcp 192.0.2.1:443: connect: connection refused": "the registry cannot be reached",
		"failed to do request: Head \"x\": tls: failed to verify certificate: x509: certificate signed by unknown authority":                "does not trust the registry's certificate",
		"failed to do request: Head \"x\": http: server gave HTTP response to HTTPS client":                                                 "the registry has no HTTPS",
		unreachable: "the registry cannot be reached: check its name and the network",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.cri.Fail("PullImage", status.Error(codes.Unknown, answer))
			_, err := r.ensure(t, newPod("web"))
			fault := faultOf(t, err)
			mustEqual(t, "reason", "ErrImagePull", fault.Reason)
			expectError(t, fault.Err, `pull image "registry.example/app:1": `, answer, want)
			r.cri.Clear("PullImage") // the registry works again
			r.cri.Publish(appImage, 1, fakecri.Program{})
			r.clock.advance(pullBackOff)
			if _, err := r.ensure(t, newPod("web")); err != nil {
				t.Errorf("when the cause is gone: %v", err)
			}
		})
	}
}

func TestEnsure_triesOneCredentialAfterTheOther(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		keys  []pod.RegistryAuth
		fails error
		pulls int
		want  string // "" is success
	}{
		"the second works":               {keys: []pod.RegistryAuth{wrong, secret}, pulls: 2},
		"none works":                     {keys: []pod.RegistryAuth{wrong, wrong}, pulls: 2, want: "401 Unauthorized"},
		"there is none":                  {pulls: 1, want: "401 Unauthorized"},
		"the registry cannot be reached": {keys: []pod.RegistryAuth{wrong, secret}, fails: status.Error(codes.Unknown, unreachable), pulls: 1, want: "no such host"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.cri.Publish(appImage, 1, fakecri.Program{})
			r.cri.Protect(appImage, secret.Username, secret.Password)
			if test.fails != nil {
				r.cri.Fail("PullImage", test.fails)
			}
			r.keys.set(test.keys...)
			_, err := r.ensure(t, newPod("web"))
			mustEqual(t, "pulls", test.pulls, r.cri.Count("PullImage"))
			if test.want != "" {
				expectError(t, err, test.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestEnsure_saysWhichCredentialsAreMissing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.keys.err = errors.New("runtime.registry_config: /etc/wardlet/config.json cannot be used: no JSON at byte 7")
	_, err := r.ensure(t, newPod("web"))
	expectError(t, err, "not found", "credentials are missing: runtime.registry_config: "+filepath.Join("/etc", "wardlet", "config.json"))
	if strings.Count(err.Error(), "credentials are missing") != 1 {
		t.Error(err)
	}
}

func TestClassify_doesNotReadTheNameOfTheImage(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"registry.example/denied:unauthorized", "registry.example/x509:RegistryUnavailable", "registry.example/insufficient_scope:toomanyrequests"} {
		if got := classify(errors.New(`pull image "` + name + `": failed to resolve reference "` + name + `": something else`)); got.words != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for _, c := range classes {
		for _, word := range c.words {
			if !strings.Contains(word, " ") {
				t.Errorf("%q may be part of a name", word)
			}
		}
	}
}
