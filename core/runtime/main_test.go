package runtime

import (
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
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
	"github.com/wardlet/wardlet/core/runtime/criconfig"
	"github.com/wardlet/wardlet/test/fakecri"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const appImage = "registry.example/app:1"

// rig is a Runtime on a fake CRI, with a clock that the test sets.
type rig struct {
	*Runtime
	cri    *fakecri.Server
	events *events
	clock  *clock
	layout pod.Layout
}

func newRig(t *testing.T) *rig {
	t.Helper()
	cri := fakecri.Start(t)
	r := &rig{
		Runtime: connect(t, cri, t.TempDir(), "install-1"),
		cri:     cri,
		clock:   &clock{now: time.Unix(1_700_000_000, 0)},
	}
	r.events = r.config.Events.(*events)
	r.layout = r.config.Layout
	r.config.Now = r.clock.Now
	return r
}

// connect returns a Runtime of an installation that is connected to cri.
func connect(t *testing.T, cri *fakecri.Server, root, installation string) *Runtime {
	t.Helper()
	client, err := Dial(cri.Endpoint(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	logger := slog.New(slog.DiscardHandler)
	return New(Config{
		Config: criconfig.Config{
			Installation:   installation,
			Layout:         pod.Layout{PodRoot: filepath.Join(root, "lib"), LogRoot: filepath.Join(root, "log")},
			ResolvConf:     "testdata/resolv.conf",
			MemoryCapacity: 8 << 30,
		},
		Client:    client,
		Health:    NewHealth(client, func(Features) {}, logger, time.Now),
		HostsFile: "testdata/hosts",
		Events:    &events{},
		Logger:    logger,
		Now:       time.Now,
	})
}

// newPod returns a small pod with one container, "app".
func newPod(name string) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "default", UID: types.UID("uid-" + name),
		},
		Spec: v1.PodSpec{
			DNSPolicy: v1.DNSDefault,
			Containers: []v1.Container{{
				Name:                     "app",
				Image:                    appImage,
				ImagePullPolicy:          v1.PullIfNotPresent,
				TerminationMessagePath:   "/dev/termination-log",
				TerminationMessagePolicy: v1.TerminationMessageReadFile,
			}},
		},
	}
}

func sandboxRun(p *v1.Pod) pod.SandboxRun {
	return pod.SandboxRun{Pod: p, CgroupParent: "/wardlet/pod" + string(p.UID), Seen: time.Unix(1_700_000_000, 5_000_000).UTC(), Document: "app.yaml#0"}
}

// runSandbox runs the first sandbox of a pod and returns its ID.
func (r *rig) runSandbox(t *testing.T, p *v1.Pod) string {
	t.Helper()
	id, err := r.RunSandbox(t.Context(), sandboxRun(p))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// containerRun returns the run of a pod's first container in a sandbox.
func containerRun(p *v1.Pod, sandboxID string, attempt uint32) pod.ContainerRun {
	return pod.ContainerRun{
		Pod: p, Container: &p.Spec.Containers[0], Sandbox: sandboxRun(p), SandboxID: sandboxID,
		SandboxIPs: []string{"10.88.0.3"}, Attempt: attempt, ImageRef: fakecri.ImageID(appImage),
	}
}

// start runs a pod with a program and returns the container's ID.
func (r *rig) start(t *testing.T, p *v1.Pod, program fakecri.Program) string {
	t.Helper()
	r.cri.Load(appImage, 1000, program)
	id, err := r.StartContainer(t.Context(), containerRun(p, r.runSandbox(t, p), 0))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// events is a recorder that keeps "Type Reason: message".
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

// golden compares got with a file of testdata, or writes it with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got); -update rewrites it:\n%s", file, diff)
	}
}

// write writes a file, with its directories.
func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// filesBelow lists the files and links below a directory, sorted.
func filesBelow(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	return files
}

func mustEqual[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
