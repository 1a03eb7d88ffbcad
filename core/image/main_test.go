package image

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/runtime"
	"github.com/wardlet/wardlet/core/runtime/criconfig"
	"github.com/wardlet/wardlet/core/state"
	wardlet "github.com/wardlet/wardlet/core/status"
	"github.com/wardlet/wardlet/test/fakecri"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const appImage = "registry.example/app:1"

// rig is a Puller on a fake CRI, with a clock that the test sets.
type rig struct {
	*Puller
	cri     *fakecri.Server
	runtime *runtime.Runtime
	events  *events
	clock   *clock
	keys    *keys
	state   string
	dir     *state.Dir
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{cri: fakecri.Start(t), events: &events{}, clock: &clock{now: time.Unix(1_700_000_000, 0)}, keys: &keys{}, state: filepath.Join(t.TempDir(), "state")}
	client, err := runtime.Dial(r.cri.Endpoint(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	log := slog.New(slog.DiscardHandler)
	root := t.TempDir()
	r.runtime = runtime.New(runtime.Config{
		Config: criconfig.Config{Installation: "install-1", Layout: pod.Layout{PodRoot: filepath.Join(root, "lib"), LogRoot: filepath.Join(root, "log")}},
		Client: client, Health: runtime.NewHealth(client, func(runtime.Features) {}, log, time.Now), Events: r.events, Logger: log, Now: r.clock.Now,
	})
	r.restart(t)
	t.Cleanup(func() { _ = r.dir.Close() })
	return r
}

// restart makes a new Puller, as an agent does when it restarts.
func (r *rig) restart(t *testing.T) {
	t.Helper()
	if r.dir != nil {
		if err := r.dir.Close(); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := state.Open(r.state, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	r.dir = dir
	r.Puller = New(Config{
		Runtime: r.runtime, Credentials: r.keys, Records: dir.PulledImages(), Owner: ownerOf, Parallel: 3, ProgressTimeout: time.Minute, OfflineFallback: true,
		Events: r.events, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Now: r.clock.Now,
	})
}

// ensure calls Ensure for the first container of a pod.
func (r *rig) ensure(t *testing.T, p *v1.Pod) (string, error) {
	t.Helper()
	return r.Ensure(t.Context(), p, &p.Spec.Containers[0])
}

// ownerOf returns the namespace of a pod as its owner, and "" for the operator's namespace
// "default".
func ownerOf(p *v1.Pod) string {
	if p.Namespace == "default" {
		return ""
	}
	return p.Namespace
}

// newPod returns a small pod with one container, "app".
func newPod(name string) *v1.Pod { return tenantPod("default", name) }

func tenantPod(namespace, name string) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, UID: types.UID(namespace + "-" + name)},
		Spec: v1.PodSpec{
			DNSPolicy: v1.DNSDefault,
			Containers: []v1.Container{{
				Name: "app", Image: appImage, ImagePullPolicy: v1.PullIfNotPresent,
				TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: v1.TerminationMessageReadFile,
			}},
		},
	}
}

// keys holds the credentials of a test's node.
type keys struct {
	mu   sync.Mutex
	list []pod.RegistryAuth
	err  error
}

func (k *keys) set(list ...pod.RegistryAuth) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list = list
}

func (k *keys) For(context.Context, *v1.Pod, string) ([]pod.RegistryAuth, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.list, k.err
}

type events struct {
	mu   sync.Mutex
	list []string
	// containers are the containers that events were about.
	containers []string
}

func (e *events) ContainerEvent(p *v1.Pod, container, eventType, reason, message string) {
	e.Event(p, eventType, reason, message)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.containers = append(e.containers, container)
}

func (e *events) Event(_ *v1.Pod, eventType, reason, message string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, fmt.Sprintf("%s %s: %s", eventType, reason, message))
}

// take returns the events so far and forgets them.
func (e *events) take() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := e.list
	e.list = nil
	return list
}

// reasons returns "Type Reason" of the events so far and forgets them.
func (e *events) reasons() []string {
	var reasons []string
	for _, event := range e.take() {
		reason, _, _ := strings.Cut(event, ":")
		reasons = append(reasons, reason)
	}
	return reasons
}

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func faultOf(t *testing.T, err error) *wardlet.Fault {
	t.Helper()
	fault, ok := errors.AsType[*wardlet.Fault](err)
	if !ok {
		t.Fatalf("error %v, want a fault", err)
	}
	return fault
}

func mustEqual[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func expectError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", parts)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
}
