package oom

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// Config holds the dependencies of a Watcher.
type Config struct {
	// Path is the log of the kernel: /dev/kmsg, or a pipe with the same text.
	Path string
	// Owner returns the pod to which a cgroup belongs, and the path of the cgroup below that of the
	// pod; see node.Cgroups.
	Owner func(cgroup string) (uid types.UID, below string, ok bool)
	// Pod returns a pod by its UID, nil if it is not known.
	Pod func(uid types.UID) *v1.Pod
	// Container returns the name of a pod's container by the runtime's ID, empty if it is not known.
	Container func(uid types.UID, id string) string
	Events    status.Recorder
	// NodeEvent records an event about the node.
	NodeEvent func(eventType, reason, message string)
	Log       *slog.Logger
}

// Watcher reports kills. Run starts it.
type Watcher struct {
	cfg Config

	mu sync.Mutex
	// kills are the numbers of kills by container.
	kills map[Container]int
	uids  map[Container]types.UID
}

// Container is a container of a pod.
type Container struct{ Namespace, Pod, Name string }

// New returns a Watcher.
func New(cfg Config) *Watcher {
	return &Watcher{cfg: cfg, kills: map[Container]int{}, uids: map[Container]types.UID{}}
}

// The delays before a log that could not be read is opened again.
const (
	minDelay = time.Second
	maxDelay = 10 * time.Minute
)

// Run reports kills until ctx ends. Kills before Run are not reported. If the log cannot be read, it
// logs that once, and tries again from time to time.
func (w *Watcher) Run(ctx context.Context) {
	warned := ""
	for delay := minDelay; ; delay = min(2*delay, maxDelay) {
		read, err := w.follow(ctx)
		if ctx.Err() != nil {
			return
		}
		if read {
			delay = minDelay
		}
		if warned != err.Error() {
			warned = err.Error()
			w.cfg.Log.Warn("no events report that memory has run out: the kernel's log cannot be read; run the agent as root, with CAP_SYSLOG and access to the file", "err", err)
		}
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// follow reads the log until ctx ends or reading fails. read is true if something could be read.
func (w *Watcher) follow(ctx context.Context) (read bool, err error) {
	log, err := open(w.cfg.Path)
	if err != nil {
		return false, err
	}
	defer log.Close()
	defer context.AfterFunc(ctx, func() { log.Close() })()
	var p parser
	for {
		line, err := log.next()
		if err != nil {
			return read, err
		}
		read = true
		if r, ok := parseRecord(line); ok {
			for _, k := range p.add(&r) {
				w.report(&k)
			}
		}
	}
}

// The events about kills. The one about the node is a kubelet's.
const (
	reasonSystemOOM  = "SystemOOM"
	messageSystemOOM = "System OOM encountered, victim process: %s, pid: %d"
	reasonOOMKilling = "OOMKilling"
)

// report records the events for a kill.
func (w *Watcher) report(k *Kill) {
	if k.OfNode() {
		w.cfg.NodeEvent(v1.EventTypeWarning, reasonSystemOOM, fmt.Sprintf(messageSystemOOM, k.Process, k.PID))
	}
	uid, below, ok := w.cfg.Owner(k.Cgroup)
	if !ok {
		if !k.OfNode() {
			w.cfg.Log.Warn("the kernel killed a process because its cgroup was out of memory", "process", k.Process, "pid", k.PID, "cgroup", cmp.Or(k.Cgroup, "unknown"), "limit", k.Limit)
		}
		return
	}
	p := w.cfg.Pod(uid)
	if p == nil {
		w.cfg.Log.Warn("the kernel killed a process of an unknown pod because memory has run out", "process", k.Process, "pid", k.PID, "uid", uid)
		return
	}
	name := ""
	if id := containerID(below); id != "" {
		name = w.cfg.Container(uid, id)
	}
	w.count(p, name)
	message := fmt.Sprintf("%s, and the kernel killed process %s, pid: %d", w.exhausted(k, uid, name), k.Process, k.PID)
	if name == "" {
		w.cfg.Events.Event(p, v1.EventTypeWarning, reasonOOMKilling, message)
		return
	}
	status.ContainerEvent(w.cfg.Events, p, name, v1.EventTypeWarning, reasonOOMKilling, "Container "+name+": "+message)
}

// containerID returns the runtime's ID in the path of a container's cgroup below that of its pod.
// Some runtimes add a prefix such as "crio-", and systemd's cgroups have the suffix ".scope".
func containerID(below string) string {
	id, _, _ := strings.Cut(below, "/")
	id = strings.TrimSuffix(id, ".scope")
	return id[strings.LastIndexByte(id, '-')+1:]
}

// exhausted says whose memory has run out, for the victim in a container, whose name is empty if it
// is not known.
func (w *Watcher) exhausted(k *Kill, uid types.UID, name string) string {
	of, below, ok := w.cfg.Owner(k.Limit)
	switch {
	case k.OfNode():
		return "the node is out of memory"
	case !ok:
		return "the memory for all pods is used up"
	case of != uid || below == "":
		return "the pod has reached its memory limit"
	case name == "" || path.Base(below) != below:
		return "a cgroup of the pod has reached its memory limit"
	}
	return "the container has reached its memory limit"
}

// maxCounted limits the containers whose kills are counted.
const maxCounted = 10_000

// count counts a kill of a container.
func (w *Watcher) count(p *v1.Pod, name string) {
	if name == "" {
		return
	}
	c := Container{Namespace: p.Namespace, Pod: p.Name, Name: name}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.kills[c]; known || len(w.kills) < maxCounted {
		w.kills[c]++
		w.uids[c] = p.UID
	}
}

// Count is the number of kills of a container.
type Count struct {
	Container
	Kills int
}

// Counts returns the number of kills by container, ordered, without containers of pods that are no
// longer known.
func (w *Watcher) Counts() []Count {
	w.mu.Lock()
	defer w.mu.Unlock()
	counts := make([]Count, 0, len(w.kills))
	for c, n := range w.kills {
		if w.cfg.Pod(w.uids[c]) == nil {
			delete(w.kills, c)
			delete(w.uids, c)
			continue
		}
		counts = append(counts, Count{c, n})
	}
	slices.SortFunc(counts, func(a, b Count) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Pod, b.Pod), cmp.Compare(a.Name, b.Name))
	})
	return counts
}
