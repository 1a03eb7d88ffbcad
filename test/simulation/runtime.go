package simulation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// node is the container runtime, with everything else on the node that belongs to pods. It is
// guarded by the world's lock.
type node struct {
	made       int
	sandboxes  map[string]*sandbox
	containers map[string]*container
	pods       map[types.UID]*group
	// names are the names in use: a runtime uses none twice.
	names map[string]bool
	// volumes, directories and cgroups are by pod.
	volumes, cgroups map[types.UID]bool
	directories      map[types.UID]directory
	// troubles are by call. down is until when no call is answered, offline until when
	// there is no network.
	troubles      map[call]trouble
	down, offline time.Time
	// watcher is the newest stream of events, nil for none.
	watcher *watcher
}

func newNode() node {
	return node{
		sandboxes: map[string]*sandbox{}, containers: map[string]*container{}, pods: map[types.UID]*group{}, names: map[string]bool{},
		volumes: map[types.UID]bool{}, cgroups: map[types.UID]bool{}, directories: map[types.UID]directory{}, troubles: map[call]trouble{},
	}
}

// group is everything that the runtime has of one pod.
type group struct {
	sandboxes  []*sandbox
	containers []*container
}

// directory names the pod that a pod directory belongs to, and its source.
type directory struct{ namespace, name, source string }

type sandbox struct {
	id          string
	uid         types.UID
	name        string
	attempt     uint32
	ready       bool
	hostNetwork bool
	created     time.Time
	annotations map[string]string
	foreign     bool
	turns       turns
}

type container struct {
	id, name, hash, image string
	// made is the annotation AnnotationMadeFrom of its pod.
	made                  string
	sandbox               *sandbox
	uid                   types.UID
	attempt               uint32
	state                 status.ContainerState
	created, begun, ended time.Time
	code                  int32
	foreign               bool
	// lapses is the number of lapses of the version it was made from. fullName is the name of
	// its pod if the pod is static, else empty. restartable reports whether the container
	// may start again after this exit code. policy is its restart policy.
	lapses      int
	fullName    string
	restartable func(code int32) bool
	policy      v1.RestartPolicy
	// known is the life of the agent whose start call returned its ID. since is when it
	// started and over when it exited, both independent of the wall clock.
	known       *link
	since, over time.Time
	// done is closed when the container exits.
	done chan struct{}
	// told: it was asked to terminate.
	told bool

	// pod is the version that it is made from, kind its kind in that version, and place its
	// index among the init containers.
	pod   *v1.Pod
	kind  pod.ContainerKind
	place int
	// startup and readiness are its probes, nil for none. preStop: it has a preStop hook.
	startup, readiness *v1.Probe
	preStop            bool
	health             health
	// started, ready and lives are the results of its probes. hookFailed: its postStart hook
	// has failed.
	started, ready, lives finding
	hookFailed            bool
}

func (c *container) running() bool { return c.state == status.StateRunning }

// group returns what the runtime has of a pod.
func (r *node) group(uid types.UID) *group {
	g := r.pods[uid]
	if g == nil {
		g = &group{}
		r.pods[uid] = g
	}
	return g
}

func (r *node) newID(kind string) string {
	r.made++
	return fmt.Sprint(kind, r.made)
}

// newest returns the newest instance of a container that was started, nil for none.
func (g *group) newest(name string) *container {
	for _, c := range g.containers {
		if c.name == name && c.state != status.StateCreated {
			return c
		}
	}
	return nil
}

func (g *group) running() bool { return slices.ContainsFunc(g.containers, (*container).running) }

// addSandbox and addContainer keep the newest first, in the order in which a runtime lists them.
func (r *node) addSandbox(s *sandbox) {
	r.sandboxes[s.id] = s
	g := r.group(s.uid)
	g.sandboxes = append(g.sandboxes, s)
	slices.SortStableFunc(g.sandboxes, func(a, b *sandbox) int {
		return cmp.Or(cmp.Compare(b.attempt, a.attempt), b.created.Compare(a.created))
	})
}

func (r *node) addContainer(c *container) {
	r.containers[c.id] = c
	g := r.group(c.uid)
	g.containers = append(g.containers, c)
	slices.SortStableFunc(g.containers, func(a, b *container) int {
		return cmp.Or(cmp.Compare(b.attempt, a.attempt), b.created.Compare(a.created))
	})
}

// dropContainer removes a container and frees its name.
func (r *node) dropContainer(c *container) {
	delete(r.containers, c.id)
	delete(r.names, containerName(c.uid, c.name, c.attempt))
	g := r.group(c.uid)
	g.containers = slices.DeleteFunc(g.containers, func(x *container) bool { return x == c })
}

func (r *node) dropSandbox(s *sandbox) {
	delete(r.sandboxes, s.id)
	delete(r.names, sandboxName(s.uid, s.attempt))
	g := r.group(s.uid)
	g.sandboxes = slices.DeleteFunc(g.sandboxes, func(x *sandbox) bool { return x == s })
	if len(g.sandboxes)+len(g.containers) == 0 {
		delete(r.pods, s.uid)
	}
}

func sandboxName(uid types.UID, attempt uint32) string { return fmt.Sprintf("%s/%d", uid, attempt) }

func containerName(uid types.UID, name string, attempt uint32) string {
	return fmt.Sprintf("%s/%s/%d", uid, name, attempt)
}

// end records that a container exits. mu is held.
func (w *world) end(c *container, code int32) {
	if !c.running() {
		return
	}
	w.note("container %v ends with %d", c, code)
	c.state, c.code, c.ended, c.over = status.StateExited, code, w.clock.wall(), time.Now()
	close(c.done)
	if !c.foreign && w.runtime.group(c.uid).newest(c.name) == c {
		sub := w.subject(c.uid)
		delete(sub.ended, c.name)
		switch {
		case c.kind == pod.InitContainer && code == 0:
			c.sandbox.turns.well[c.name] = true
		case c.kind == pod.InitContainer && !c.restartable(code):
			c.sandbox.turns.failed = true
		case c.kind == pod.RegularContainer && !c.restartable(code) && (!c.condemned() || c.policy == v1.RestartPolicyNever):
			sub.ended[c.name] = ended{code: code, hash: c.hash, sandbox: c.sandbox.id, lapses: c.lapses}
		}
	}
	w.happened(c.uid, c.id, status.ChangeVisible)
}

// endSandbox stops a sandbox with all containers that run in it.
func (w *world) endSandbox(s *sandbox) {
	if s.ready {
		w.note("sandbox %s of %s ends", s.id, s.uid)
		s.ready = false
	}
	for _, c := range w.runtime.group(s.uid).containers {
		if c.sandbox == s {
			w.end(c, 137)
		}
	}
	w.happened(s.uid, s.id, status.ChangeVisible)
}

// String names the container.
func (c *container) String() string {
	return fmt.Sprintf("%s (%s of pod %s #%d)", c.id, c.name, c.uid, c.attempt)
}

// job is the image of containers that exit by themselves.
const job = "job"

func imageKind(image string) string {
	kind, _, _ := strings.Cut(image, ":")
	return kind
}

// settleForeign adds a pod that another client of the runtime runs.
func (w *world) settleForeign() {
	s := &sandbox{id: "foreign-sandbox", uid: "foreign", name: "foreign", ready: true, foreign: true, created: w.clock.wall(), turns: newTurns()}
	w.runtime.addSandbox(s)
	w.runtime.addContainer(&container{
		id: "foreign-container", name: "x", sandbox: s, uid: s.uid, state: status.StateRunning, foreign: true,
		created: s.created, begun: s.created, since: time.Now(), done: make(chan struct{}),
	})
}
