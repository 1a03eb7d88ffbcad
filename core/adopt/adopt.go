package adopt

import (
	"context"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/source"
	"github.com/wardlet/wardlet/core/status"
)

// patience is the time after which the log says that the documents wait for the runtime. They wait
// for as long as it is away: it starts no pod meanwhile, and its pods may run on.
const patience = 10 * time.Second

// retry is the interval between attempts to list the runtime's pods.
const retry = 200 * time.Millisecond

// Memory stores the UIDs that pods have instead of those of their documents. After a restart
// they are the same.
type Memory interface {
	Load() (map[types.UID]types.UID, error)
	Store(uids map[types.UID]types.UID) error
}

// Config is the configuration of an Adopter.
type Config struct {
	// ListPods returns the pods of the runtime, those of this installation and those of a kubelet.
	ListPods func(ctx context.Context) ([]status.ObservedPod, error)
	Memory   Memory
	// Same reports whether a container of a kubelet has a definition.
	Same   func(o *status.ObservedContainer, c *v1.Container) bool
	Logger *slog.Logger
}

// Adopter sets the UIDs that a kubelet gave to pods. It is safe for concurrent use.
type Adopter struct {
	cfg Config

	mu sync.Mutex
	// uids are the UIDs of pods by those that are derived from their documents.
	uids map[types.UID]types.UID
	// running are the static pods of a kubelet; listed is set once they are known.
	running map[types.NamespacedName]status.ObservedPod
	listed  bool
}

// New returns an Adopter.
func New(cfg Config) *Adopter {
	a := &Adopter{cfg: cfg}
	uids, err := cfg.Memory.Load()
	if err != nil {
		cfg.Logger.Error("static pods that a kubelet started are restarted, unless it runs again before: their UIDs cannot be read", "err", err)
	}
	if a.uids = uids; a.uids == nil {
		a.uids = map[types.UID]types.UID{}
	}
	return a
}

// Sink returns a sink whose documents arrive at to.
func (a *Adopter) Sink(to source.Sink) source.Sink { return sink{to, a} }

type sink struct {
	source.Sink
	adopter *Adopter
}

// Replace implements source.Sink.
func (s sink) Replace(ctx context.Context, all []api.Document) error {
	own, err := s.adopter.adopted(ctx, all)
	if err != nil {
		return err
	}
	return s.Sink.Replace(ctx, own)
}

// Apply implements source.Sink.
func (s sink) Apply(ctx context.Context, changed []api.Document, gone []string) error {
	own, err := s.adopter.adopted(ctx, changed)
	if err != nil {
		return err
	}
	return s.Sink.Apply(ctx, own, gone)
}

// adopted returns the documents with the UIDs that their pods have. It returns the error of a ctx that
// is done before the runtime answers.
func (a *Adopter) adopted(ctx context.Context, all []api.Document) ([]api.Document, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.list(ctx); err != nil {
		return nil, err
	}
	out, changed := slices.Clone(all), false
	for i := range out {
		d := &out[i]
		if d.Pod == nil || string(d.Pod.UID) != d.Pod.Annotations[pod.AnnotationHash] {
			continue // its manifest says which UID it has
		}
		uid, known := a.uids[d.Pod.UID]
		// A kubelet may have been back meanwhile, and have started the pod with another UID.
		if now, runs := a.match(d); now != uid && (runs || !known && now != "") {
			uid = now
			a.uids[d.Pod.UID], changed = uid, true
			a.cfg.Logger.Info("a static pod that a kubelet started runs on", "pod", d.Pod.Namespace+"/"+d.Pod.Name, "uid", uid)
		}
		if uid == "" {
			continue // no kubelet has started it
		}
		p := *d.Pod
		p.UID, p.Annotations = uid, maps.Clone(p.Annotations)
		p.Annotations[pod.AnnotationHash] = string(uid)
		d.Pod = &p
	}
	if changed {
		if err := a.cfg.Memory.Store(a.uids); err != nil {
			a.cfg.Logger.Error("static pods that a kubelet started are restarted with the agent: their UIDs cannot be stored", "err", err)
		}
	}
	return out, nil
}

// list reads the static pods of a kubelet, once.
func (a *Adopter) list(ctx context.Context) error {
	if a.listed {
		return nil
	}
	var pods []status.ObservedPod
	began, told := time.Now(), false
	for {
		var err error
		if pods, err = a.cfg.ListPods(ctx); err == nil {
			break
		}
		if !told && time.Since(began) >= patience {
			told = true
			a.cfg.Logger.Warn("static pods wait for the runtime: a kubelet may have started some of them, and it does not list its pods", "err", err)
		}
		timer := time.NewTimer(retry)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
	a.listed, a.running = true, map[types.NamespacedName]status.ObservedPod{}
	for i := range pods {
		p := &pods[i]
		if len(p.Sandboxes) == 0 || p.Sandboxes[0].Annotations[pod.AnnotationInstallation] != "" {
			continue
		}
		a.running[types.NamespacedName{Namespace: p.Namespace, Name: p.Name}] = *p
	}
	return nil
}

// match returns the UID of the pod that a kubelet has started from the document of d, empty for none:
// all containers are those of the document, and its manifest has not changed since. runs is true if a
// container runs.
func (a *Adopter) match(d *api.Document) (uid types.UID, runs bool) {
	running, ok := a.running[types.NamespacedName{Namespace: d.Pod.Namespace, Name: d.Pod.Name}]
	if !ok {
		return "", false
	}
	for i := range d.Pod.Spec.Containers {
		c := &d.Pod.Spec.Containers[i]
		at := slices.IndexFunc(running.Containers, func(o status.ObservedContainer) bool { return o.Name == c.Name })
		if at < 0 || !a.cfg.Same(&running.Containers[at], c) {
			return "", false
		}
	}
	if path, inFile := api.ManifestOf(d.ID); inFile {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(running.Sandboxes[0].CreatedAt) {
			return "", false
		}
	}
	return running.UID, slices.ContainsFunc(running.Containers, func(o status.ObservedContainer) bool { return o.State == status.StateRunning })
}
