package gc

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeNode imitates the runtime, the volumes and the cgroups, and decides which pods may go.
type fakeNode struct {
	mu      sync.Mutex
	pods    map[types.UID]*status.ObservedPod
	owners  map[types.UID]*v1.Pod
	cgroups map[types.UID]bool
	// removable holds the pods that may go, with the source that the question must name.
	removable map[types.UID]string
	// calls lists the changes; asked lists the questions to Removable.
	calls, asked []string
	passes       int
	// fail has the calls that fail. hang has the calls that wait until their context ends.
	fail, hang map[string]bool
	// kept are the containers that the runtime does not remove. tries lists the attempts to remove
	// a container.
	kept  map[string]bool
	tries []string
	// known are the pods as known without a call. over has the pods that have ended and are still
	// shown.
	known []status.ObservedPod
	over  map[types.UID]bool
	// inspections is the number of inspections of single pods.
	inspections int
	// slow is the duration of every change.
	slow time.Duration
}

func newNode() *fakeNode {
	return &fakeNode{
		pods:      map[types.UID]*status.ObservedPod{},
		owners:    map[types.UID]*v1.Pod{},
		cgroups:   map[types.UID]bool{},
		removable: map[types.UID]string{},
		fail:      map[string]bool{},
		hang:      map[string]bool{},
		kept:      map[string]bool{},
		over:      map[types.UID]bool{},
	}
}

// do performs a call that changes something.
func (n *fakeNode) do(ctx context.Context, call string, change func()) error {
	n.mu.Lock()
	if n.hang[call] {
		n.mu.Unlock()
		<-ctx.Done()
		return ctx.Err()
	}
	n.mu.Unlock()
	time.Sleep(n.slow)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.fail[call] {
		return fmt.Errorf("%s failed", call)
	}
	n.calls = append(n.calls, call)
	change()
	return nil
}

func (n *fakeNode) ListPods(ctx context.Context) ([]status.ObservedPod, error) {
	var list []status.ObservedPod
	n.mu.Lock()
	n.passes++
	n.mu.Unlock()
	err := n.do(ctx, "list", func() {
		n.calls = n.calls[:len(n.calls)-1]
		for _, p := range n.pods {
			list = append(list, status.ObservedPod{
				UID: p.UID, Name: p.Name, Namespace: p.Namespace,
				Containers: slices.Clone(p.Containers), Sandboxes: slices.Clone(p.Sandboxes),
			})
		}
	})
	return list, err
}

func (n *fakeNode) InspectPod(_ context.Context, uid types.UID) (status.ObservedPod, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.inspections++
	p := n.pods[uid]
	if p == nil {
		return status.ObservedPod{UID: uid}, nil
	}
	return status.ObservedPod{
		UID: p.UID, Name: p.Name, Namespace: p.Namespace,
		Containers: slices.Clone(p.Containers), Sandboxes: slices.Clone(p.Sandboxes),
	}, nil
}

func (n *fakeNode) inspected() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.inspections
}

func (n *fakeNode) shown() []status.ObservedPod {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.known
}

func (n *fakeNode) Over(uid types.UID) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.over[uid]
}

func (n *fakeNode) StopContainer(ctx context.Context, id string, _ time.Duration) error {
	return n.do(ctx, "end "+id, func() {})
}

func (n *fakeNode) RemoveContainer(ctx context.Context, uid types.UID, id string) error {
	n.mu.Lock()
	n.tries = append(n.tries, id)
	kept := n.kept[id]
	n.mu.Unlock()
	if kept {
		return fmt.Errorf("remove container %s: %w", id, status.ErrContainerStuck)
	}
	return n.do(ctx, "container "+id, func() {
		p := n.pods[uid]
		p.Containers = slices.DeleteFunc(p.Containers, func(c status.ObservedContainer) bool { return c.ID == id })
	})
}

// tried returns how often the removal of a container was tried.
func (n *fakeNode) tried(id string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	count := 0
	for _, tried := range n.tries {
		if tried == id {
			count++
		}
	}
	return count
}

func (n *fakeNode) StopSandbox(ctx context.Context, id string) error {
	return n.do(ctx, "stop "+id, func() {})
}

func (n *fakeNode) RemoveSandbox(ctx context.Context, id string) error {
	return n.do(ctx, "sandbox "+id, func() {
		for uid, p := range n.pods {
			p.Sandboxes = slices.DeleteFunc(p.Sandboxes, func(s status.ObservedSandbox) bool { return s.ID == id })
			if len(p.Sandboxes) == 0 {
				delete(n.pods, uid)
			}
		}
	})
}

func (n *fakeNode) Removable(uid types.UID, source string) bool {
	// The answer takes a while to arrive.
	defer time.Sleep(n.slow)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = append(n.asked, string(uid)+" of "+source)
	want, ok := n.removable[uid]
	return ok && want == source
}

type fakeVolumes struct{ *fakeNode }

// unmarked is the owner of a directory that does not name its pod.
var unmarked = &v1.Pod{}

func (v fakeVolumes) Pods() ([]types.UID, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.fail["list directories"] {
		return nil, os.ErrPermission
	}
	return slices.Collect(maps.Keys(v.owners)), nil
}

func (v fakeVolumes) Owner(uid types.UID) (*v1.Pod, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch p, ok := v.owners[uid]; {
	case p == unmarked:
		return nil, fmt.Errorf("directory: %w", pod.ErrUnmarked)
	case !ok:
		return nil, fmt.Errorf("owner: %w", os.ErrNotExist)
	case p == nil:
		return nil, fmt.Errorf("owner of %s: torn", uid)
	default:
		return p, nil
	}
}

func (v fakeVolumes) Teardown(ctx context.Context, uid types.UID) error {
	return v.do(ctx, "volumes "+string(uid), func() {})
}

func (v fakeVolumes) Remove(ctx context.Context, uid types.UID) error {
	return v.do(ctx, "directory "+string(uid), func() { delete(v.owners, uid) })
}

type fakeCgroups struct{ *fakeNode }

func (c fakeCgroups) Pods() ([]types.UID, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.cgroups)), nil
}

func (c fakeCgroups) Remove(ctx context.Context, uid types.UID) error {
	return c.do(ctx, "cgroup "+string(uid), func() { delete(c.cgroups, uid) })
}

// add puts a pod of the source "files" on the node. Containers and sandboxes come newest first. A
// container is "id name state sandbox", a sandbox is "id ready" or "id over".
func (n *fakeNode) add(uid types.UID, containers, sandboxes []string) {
	p := &status.ObservedPod{UID: uid, Namespace: "shop", Name: "web"}
	for _, c := range containers {
		part := strings.Fields(c)
		p.Containers = append(p.Containers, status.ObservedContainer{
			ID: part[0], Name: part[1], State: status.ContainerState(part[2]), SandboxID: part[3],
		})
	}
	for _, s := range sandboxes {
		id, state, _ := strings.Cut(s, " ")
		p.Sandboxes = append(p.Sandboxes, status.ObservedSandbox{
			ID: id, Ready: state == "ready", Annotations: map[string]string{pod.AnnotationSource: "files"},
		})
	}
	n.pods[uid] = p
	n.cgroups[uid] = true
	n.own(uid, "files")
}

func (n *fakeNode) own(uid types.UID, source string) {
	n.owners[uid] = &v1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "web", UID: uid,
		Annotations: map[string]string{pod.AnnotationSource: source},
	}}
}

func (n *fakeNode) done() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.calls)
}

func (n *fakeNode) set(fail map[string]bool, call string, on bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	fail[call] = on
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) lines(part string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Count(b.buf.String(), part)
}

// newCollector makes a Collector with a log root of its own.
func newCollector(t *testing.T, n *fakeNode) (*Collector, *lockedBuffer) {
	t.Helper()
	log := &lockedBuffer{}
	return New(Config{
		Runtime: n, Volumes: fakeVolumes{n}, Cgroups: fakeCgroups{n}, Pods: n, Over: n.Over, Known: n.shown,
		Layout: pod.Layout{LogRoot: t.TempDir()},
		Log:    slog.New(slog.NewTextHandler(log, nil)),
	}), log
}

// once runs one pass and waits for its tasks.
func once(t *testing.T, c *Collector) {
	t.Helper()
	c.pass(t.Context())
	c.tasks.Wait()
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func touch(t *testing.T, path string) string {
	t.Helper()
	check(t, os.MkdirAll(filepath.Dir(path), 0o700))
	check(t, os.WriteFile(path, nil, 0o600))
	return path
}
