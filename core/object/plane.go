package object

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/kube"
)

// Config is what a Plane works with.
type Config struct {
	Client *kube.Client
	// Changed is called when an object has changed that a pod names. It must not block.
	Changed func(uid types.UID)
	Logger  *slog.Logger
	Now     func() time.Time
}

// Plane has the objects that pods name. It is safe for concurrent use. Make it with New; Run ends its watches.
type Plane struct {
	cfg Config

	// watching is the context of the watches.
	watching context.Context
	end      context.CancelFunc
	watches  sync.WaitGroup

	mu      sync.Mutex
	ended   bool
	objects map[key]*watched
	tokens  map[tokenKey]*token
}

// watched is an object that pods name.
type watched struct {
	users map[types.UID]bool
	end   context.CancelFunc
	// known is closed once the server has said whether there is such an object; object is nil for none.
	known  chan struct{}
	object metav1.Object
	heard  bool
	// failed is why nothing is known yet.
	failed error
}

// patience is how long an object that is not known yet is waited for.
const patience = 2 * time.Second

// New returns a plane without objects.
func New(cfg Config) *Plane {
	p := &Plane{cfg: cfg, objects: map[key]*watched{}, tokens: map[tokenKey]*token{}}
	p.watching, p.end = context.WithCancel(context.Background())
	return p
}

// Run waits until ctx is done, then ends all watches and waits for them.
func (p *Plane) Run(ctx context.Context) {
	<-ctx.Done()
	p.mu.Lock()
	p.ended = true
	for _, t := range p.tokens {
		t.due.Stop()
	}
	p.mu.Unlock()
	p.end()
	p.watches.Wait()
}

// get returns an object that a pod names, and watches it from then on. The error is a NotFound of package apierrors
// where the server has none, any other where that is not known yet.
func (p *Plane) get(ctx context.Context, of *v1.Pod, k key) (metav1.Object, error) {
	w, err := p.use(k, of.UID)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-w.known:
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !w.heard && w.failed != nil:
		return nil, fmt.Errorf("%s is not known yet: %w", k, w.failed)
	case !w.heard:
		return nil, fmt.Errorf("%s is not known yet: the API server has not answered", k)
	case w.object == nil:
		return nil, apierrors.NewNotFound(k.kind.resource.GroupResource(), k.Name)
	}
	return w.object, nil
}

// use records that a pod names an object, and begins to watch it.
func (p *Plane) use(k key, uid types.UID) (*watched, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return nil, context.Canceled
	}
	w := p.objects[k]
	if w == nil {
		ctx, cancel := context.WithCancel(p.watching)
		w = &watched{users: map[types.UID]bool{}, end: cancel, known: make(chan struct{})}
		p.objects[k] = w
		p.watches.Go(func() { p.watch(ctx, k, w) })
	}
	w.users[uid] = true
	return w, nil
}

func (p *Plane) watch(ctx context.Context, k key, w *watched) {
	p.cfg.Client.Follow(ctx, &kube.Selection{
		GroupVersion: k.kind.resource.GroupVersion(), Resource: k.kind.resource.Resource, Namespace: k.Namespace,
		FieldSelector: fields.OneTermEqualSelector("metadata.name", k.Name).String(),
		Object:        k.kind.object, List: k.kind.list,
		Good: func() {},
		Bad: func(err error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			w.failed = err
			p.cfg.Logger.Debug("object cannot be read; what is known of it stays", "kind", k.kind.name, "object", k.fullName(), "err", err)
		},
	}, &store{plane: p, of: w})
}

// Release says that a pod is gone: nothing is watched, and no token renewed, for it alone.
func (p *Plane) Release(uid types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for k, w := range p.objects {
		delete(w.users, uid)
		if len(w.users) == 0 {
			w.end()
			delete(p.objects, k)
		}
	}
	for k, t := range p.tokens {
		if k.pod == uid {
			t.due.Stop()
			delete(p.tokens, k)
		}
	}
}

// take takes an object as it is now, nil for none.
func (p *Plane) take(w *watched, object metav1.Object) {
	p.mu.Lock()
	first := !w.heard
	changed := first || (w.object == nil) != (object == nil) || object != nil && w.object.GetResourceVersion() != object.GetResourceVersion()
	w.object, w.heard, w.failed = object, true, nil
	var users []types.UID
	if changed {
		for uid := range w.users {
			users = append(users, uid)
		}
	}
	p.mu.Unlock()
	if first {
		close(w.known)
	}
	for _, uid := range users {
		p.cfg.Changed(uid)
	}
}

// store takes what is followed of one object.
type store struct {
	plane *Plane
	of    *watched
}

// Replace takes a list: the object, or none.
func (s *store) Replace(list []any, _ string) error {
	if len(list) == 0 {
		return s.Delete(nil)
	}
	return s.Update(list[0])
}

// Add takes a new object.
func (s *store) Add(item any) error { return s.Update(item) }

// Update takes a new version.
func (s *store) Update(item any) error {
	object := item.(metav1.Object)
	object.SetManagedFields(nil)
	s.plane.take(s.of, object)
	return nil
}

// Delete says that the object is gone.
func (s *store) Delete(any) error {
	s.plane.take(s.of, nil)
	return nil
}

// Resync is never asked for.
func (s *store) Resync() error { return nil }
