package object

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/kube"
	"github.com/wardlet/wardlet/core/state"
)

// Config configures Objects.
type Config struct {
	// Client reads objects of the API server; nil for a node without one.
	Client *kube.Client
	// Dir is the directory of the node's own objects, empty for none; see Directory.
	Dir string
	// Disk stores the objects that pods name, for an agent that starts while the API server cannot
	// be reached; nil for none.
	Disk Disk
	// Key encrypts Secrets on the disk. Without it they are not stored.
	Key *Key
	// Changed is called when an object that a pod names has changed. It must not block.
	Changed func(uid types.UID)
	Logger  *slog.Logger
	Now     func() time.Time
}

// Objects provides the objects that pods name. It is safe for concurrent use. Use New to create one;
// Run stops its watches.
type Objects struct {
	cfg Config
	// patience is the time to wait for an object that is not known yet.
	patience time.Duration

	// watching is the context of the watches.
	watching context.Context
	end      context.CancelFunc
	watches  sync.WaitGroup

	// keeping is held while a copy is written or removed.
	keeping sync.Mutex

	mu      sync.Mutex
	ended   bool
	objects map[key]*watched
	tokens  map[tokenKey]*token
	// kept are the records on Disk. versions identify the versions that this agent has stored
	// there.
	kept     map[string]*state.Object
	versions map[string]string
	// silent is true while the server has not answered in time: copies are then used at once.
	silent bool
	// local is the node's own directory.
	local Directory
}

// user is a reason to watch an object: a pod that uses the object or, if judged is set, policies
// that are shown the pod's references.
type user struct {
	uid    types.UID
	judged bool
}

// watched is an object that pods name.
type watched struct {
	users map[user]bool
	end   context.CancelFunc
	begun time.Time
	// digest is the digest of the object for which it was last computed.
	digest digest
	// known is closed when the server's or the directory's answer is there. objects are the objects
	// by name.
	known   chan struct{}
	objects map[string]metav1.Object
	heard   bool
	// recalled: objects are copies that an earlier agent stored.
	recalled bool
	// failed is the reason why nothing is known yet.
	failed error
}

// patience is the patience of Objects.
const patience = 2 * time.Second

// New returns Objects that have none yet.
func New(cfg Config) *Objects {
	p := &Objects{cfg: cfg, patience: patience, objects: map[key]*watched{}, tokens: map[tokenKey]*token{}, kept: map[string]*state.Object{}, versions: map[string]string{}}
	p.local = Directory{owner: p, files: map[string]*localFile{}, known: map[key]bool{}, heard: cfg.Dir == ""}
	p.watching, p.end = context.WithCancel(context.Background())
	if cfg.Disk != nil {
		p.loadKept()
	}
	return p
}

// Run waits until ctx is done, then stops all watches and waits for them.
func (p *Objects) Run(ctx context.Context) {
	if p.cfg.Disk != nil {
		p.tend(ctx)
	}
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

// get returns an object that a pod names, and watches it from then on. The error is a NotFound of
// package apierrors if the object does not exist, and another error if that is not known yet.
func (p *Objects) get(ctx context.Context, by *v1.Pod, k key) (metav1.Object, error) {
	all, err := p.all(ctx, by, k)
	if err != nil {
		return nil, err
	}
	if object, ok := all[k.Name]; ok {
		return object, nil
	}
	err = apierrors.NewNotFound(k.kind.resource.GroupResource(), k.Name)
	if k.local {
		return nil, p.local.missing(k, err)
	}
	return nil, err
}

// all returns the objects of a key, by name, and watches them from then on. Callers must not change
// the map.
func (p *Objects) all(ctx context.Context, by *v1.Pod, k key) (map[string]metav1.Object, error) {
	w, unkept, err := p.use(k, user{uid: by.UID})
	if err != nil {
		return nil, err
	}
	if k.local && unkept {
		p.keep(k, w)
	}
	p.mu.Lock()
	known := w.heard || w.recalled || !k.local && p.silent && p.recall(k, w)
	p.mu.Unlock()
	silent := !known && !p.await(ctx, w)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent = p.silent || silent && !k.local
	switch {
	case !w.heard && (w.recalled || p.recall(k, w)):
		return w.objects, nil
	case !w.heard:
		return nil, p.unknown(k, w)
	}
	return w.objects, nil
}

// Silent reports whether a pod has waited for an object in vain, and no object has come since.
func (p *Objects) Silent() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.silent
}

// await waits for the first answer about an object, and reports whether there was one in time.
func (p *Objects) await(ctx context.Context, w *watched) bool {
	timer := time.NewTimer(p.patience)
	defer timer.Stop()
	select {
	case <-w.known:
		return true
	case <-timer.C:
		return false
	case <-ctx.Done():
		return true // the caller has left, which says nothing about the server
	}
}

// use records that a pod names an object, and starts to watch it. unkept reports whether this agent
// has not stored a copy of it yet.
func (p *Objects) use(k key, by user) (w *watched, unkept bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return nil, false, context.Canceled
	}
	w = p.objects[k]
	if w == nil {
		ctx, cancel := context.WithCancel(p.watching)
		w = &watched{users: map[user]bool{}, end: cancel, begun: p.cfg.Now(), known: make(chan struct{})}
		p.objects[k] = w
		if k.local {
			p.local.begin(k, w)
		} else {
			p.watches.Go(func() { p.watch(ctx, k, w) })
		}
	}
	w.users[by] = true
	return w, p.versions[k.String()] == "", nil
}

func (p *Objects) watch(ctx context.Context, k key, w *watched) {
	p.cfg.Client.Follow(ctx, &kube.Selection{
		GroupVersion: k.kind.resource.GroupVersion(), Resource: k.kind.resource.Resource, Namespace: k.Namespace,
		FieldSelector: k.selector(),
		Object:        k.kind.object, List: k.kind.list,
		Good: func() {},
		Bad: func(err error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			w.failed = err
			p.cfg.Logger.Debug("object cannot be read; what is known of it stays", "kind", k.kind.name, "object", k.fullName(), "err", err)
		},
	}, &store{owner: p, key: k, of: w})
}

// Release records that a pod is gone: objects that only this pod named are no longer watched, and
// its tokens are no longer renewed. Their copies on the disk are removed soon after; Release does
// not wait for that.
func (p *Objects) Release(uid types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for k, t := range p.tokens {
		if k.pod == uid {
			t.due.Stop()
			delete(p.tokens, k)
		}
	}
	p.forgetTokens(uid)
	p.release(user{uid: uid})
}

// release stops the watches of objects that only this user needed. The caller holds the lock.
func (p *Objects) release(by user) {
	var unnamed []key
	for k, w := range p.objects {
		if delete(w.users, by); len(w.users) == 0 {
			w.end()
			delete(p.objects, k)
			unnamed = append(unnamed, k)
		}
	}
	if len(unnamed) > 0 && !p.ended {
		p.watches.Go(func() {
			for _, k := range unnamed {
				p.forget(k)
			}
		})
	}
}

// take sets the current objects, and wakes the pods that name them if they have changed. If quiet
// is set, it wakes only pods that wait for the first answer.
func (p *Objects) take(w *watched, objects map[string]metav1.Object, quiet bool) {
	p.mu.Lock()
	first := !w.heard
	changed := first || !quiet && !maps.EqualFunc(w.objects, objects, func(a, b metav1.Object) bool { return a.GetResourceVersion() == b.GetResourceVersion() })
	w.objects, w.heard, w.failed = objects, true, nil
	var users []types.UID
	if changed {
		for by := range w.users {
			if !by.judged {
				users = append(users, by.uid)
			}
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

// store receives the updates of the watch of one key. Only its goroutine reads and replaces the
// objects of w outside of take.
type store struct {
	owner *Objects
	key   key
	of    *watched
}

// take sets the objects and stores them on the disk. Changes of all objects of a namespace wake no
// pod.
func (s *store) take(objects map[string]metav1.Object) error {
	s.owner.mu.Lock()
	s.owner.silent = false
	s.owner.mu.Unlock()
	s.owner.take(s.of, objects, s.key.Name == "")
	s.owner.keep(s.key, s.of)
	return nil
}

// Replace sets the objects to those of a list.
func (s *store) Replace(list []any, _ string) error {
	objects := make(map[string]metav1.Object, len(list))
	for _, item := range list {
		object := item.(metav1.Object)
		object.SetManagedFields(nil)
		objects[object.GetName()] = object
	}
	return s.take(objects)
}

// Add adds an object.
func (s *store) Add(item any) error { return s.Update(item) }

// Update sets a new version of an object.
func (s *store) Update(item any) error {
	object := item.(metav1.Object)
	object.SetManagedFields(nil)
	objects := s.objects()
	objects[object.GetName()] = object
	return s.take(objects)
}

// Delete removes an object.
func (s *store) Delete(item any) error {
	objects := s.objects()
	delete(objects, item.(metav1.Object).GetName())
	return s.take(objects)
}

// objects returns a copy of the known objects, because callers of Objects.all still read the map that
// they got.
func (s *store) objects() map[string]metav1.Object {
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	if s.of.objects == nil || !s.of.heard {
		return map[string]metav1.Object{}
	}
	return maps.Clone(s.of.objects)
}

// Resync is never called.
func (s *store) Resync() error { return nil }
