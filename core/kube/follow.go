package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
)

const (
	// listTimeout is how long a list may take, to its last byte.
	listTimeout = 2 * time.Minute
	// maxPages is how many pages a list may have; the reflector asks for 500 objects in each.
	maxPages = 100
	// watchGrace is how long a server may take to end a watch after the time it was asked for.
	watchGrace = 30 * time.Second
	// watchTime is how long a watch lasts if the reflector does not say.
	watchTime = 5 * time.Minute
	// firstBackoff is the first time between attempts at a server that does not answer well. After backoffReset
	// without a failure the times begin anew.
	firstBackoff = time.Second
	backoffReset = time.Minute
)

// DefaultMaxBackoff is the greatest time between attempts at a server that does not answer well, but for up to half of
// it at random.
const DefaultMaxBackoff = 20 * time.Second

// Selection says which objects to follow, and has the functions to call about how that goes.
type Selection struct {
	GroupVersion schema.GroupVersion
	// Resource is the plural name, such as "pods". Namespace is empty for all.
	Resource, Namespace string
	// FieldSelector is empty for all objects.
	FieldSelector string
	// Object and List are values of the types that are decoded.
	Object, List runtime.Object
	// Good is called when the server was heard of and all is well, Bad with each error; the list is read, or the
	// watch goes on, after that. Both are called from several goroutines, and not after Follow has returned.
	Good func()
	Bad  func(error)
	// MaxBackoff is DefaultMaxBackoff where it is 0.
	MaxBackoff time.Duration
}

// Store takes what Follow reads, on the goroutine of Follow: a Replace for each complete list, then the differences.
// What it returns as an error counts as an error of the watch.
type Store = cache.ReflectorStore

// Follow lists, then watches until ctx is done, and begins again whenever that breaks. It waits for what it began.
//
// A watch that breaks goes on from the last resourceVersion, which bookmarks keep new. What the server no longer has
// ("too old resource version") and what broke in the middle of an event is listed anew. The first list is read from
// the server's storage and not from a cache that may lag behind, so that a restarted agent never goes back in time.
// A store that blocks stops the reading; a server that does not wait that long ends the watch, and what was not read
// is read again.
func (c *Client) Follow(ctx context.Context, s *Selection, store Store) {
	ctx, cancel := context.WithCancel(logr.NewContext(ctx, logr.FromSlogHandler(quiet{c.log.Handler()})))
	f := &follower{client: c, what: s}
	defer f.calls.close()
	defer cancel()
	most := s.MaxBackoff
	if most <= 0 {
		most = DefaultMaxBackoff
	}
	backoff := wait.Backoff{Duration: min(firstBackoff, most), Cap: most, Factor: 2, Jitter: 0.5, Steps: 10}
	reflector := cache.NewReflectorWithOptions(f, s.Object, store, cache.ReflectorOptions{
		Name: s.Resource, TypeDescription: s.Resource, Backoff: &backoff,
	})
	delay := backoff.DelayWithReset(clock.RealClock{}, backoffReset)
	_ = delay.Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		// The follower has reported what went wrong.
		if err := reflector.ListAndWatchWithContext(ctx); err != nil {
			c.log.Debug("list and watch ended", "resource", s.Resource, "err", err)
		}
		return false, nil
	})
}

// follower lists and watches for one call of Follow, and reports how that goes. The reflector calls it, from
// goroutines that may outlive the reflector; Follow waits for them.
type follower struct {
	client *Client
	what   *Selection
	calls  calls
	// short counts watches in a row that were of no use.
	short atomic.Int32
	// pages counts those of the list that is being read.
	pages atomic.Int32
}

func (f *follower) request(o *metav1.ListOptions) *rest.Request {
	o.FieldSelector = f.what.FieldSelector
	return f.client.Request(http.MethodGet, f.what.GroupVersion).NamespaceIfScoped(f.what.Namespace, f.what.Namespace != "").
		Resource(f.what.Resource).SpecificallyVersionedParams(o, metav1.ParameterCodec, schema.GroupVersion{Version: "v1"})
}

// ListWithContext gets one page of the list.
func (f *follower) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	if err := f.calls.begin(); err != nil {
		return nil, err
	}
	defer f.calls.end()
	if o.ResourceVersion == "0" {
		// What a cache of the server has may be older than what this node has already seen before a restart.
		o.ResourceVersion = ""
	}
	list, err := f.list(ctx, &o)
	if err != nil {
		f.report(err)
		return nil, err
	}
	return list, nil
}

func (f *follower) list(ctx context.Context, o *metav1.ListOptions) (runtime.Object, error) {
	if o.Continue == "" {
		f.pages.Store(0)
	}
	if f.pages.Add(1) > maxPages {
		return nil, fmt.Errorf("the list has more than %d pages", maxPages)
	}
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	list := f.what.List.DeepCopyObject()
	if err := f.request(o).Do(ctx).Into(list); err != nil {
		return nil, err
	}
	if m, err := meta.ListAccessor(list); err != nil || m.GetResourceVersion() == "" {
		return nil, fmt.Errorf("the answer is no list of %s: it has no resourceVersion; check that the URL is that of an API server", f.what.Resource)
	}
	return list, nil
}

// WatchWithContext begins a watch.
func (f *follower) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	if err := f.calls.begin(); err != nil {
		return nil, err
	}
	o.Watch = true
	length := watchTime
	if o.TimeoutSeconds != nil {
		length = time.Duration(*o.TimeoutSeconds) * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, length+watchGrace)
	last := &outcome{}
	w, err := f.request(&o).Watch(context.WithValue(ctx, outcomeKey{}, last))
	if err != nil {
		f.report(err)
		cancel()
		f.calls.end()
		return nil, err
	}
	s := &stream{
		inner: w, body: last.body, report: f.report, short: &f.short,
		events: make(chan watch.Event), done: make(chan struct{}),
	}
	if last.err != nil {
		// To the REST client a connection that is lost is a watch without events, which the reflector begins again.
		f.report(last.err)
		s.short = nil
	} else {
		f.what.Good()
	}
	go func() {
		defer f.calls.end()
		defer cancel()
		s.pass()
	}()
	return s, nil
}

// List and Watch are for callers that have no context; the reflector has one.
func (f *follower) List(o metav1.ListOptions) (runtime.Object, error) {
	return f.ListWithContext(context.Background(), o)
}

// Watch is like List.
func (f *follower) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return f.WatchWithContext(context.Background(), o)
}

// IsWatchListSemanticsUnSupported keeps the reflector from asking for the list as a part of the watch. That spares the
// server memory where lists are long; a node's are short, and one way is easier to bound than two.
func (f *follower) IsWatchListSemanticsUnSupported() bool { return true }

// report passes an error on. That a resourceVersion is too old, or too new for a server that was restored, is part of
// the protocol: a list follows.
func (f *follower) report(err error) {
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) ||
		apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) || errors.Is(err, context.Canceled) {
		return
	}
	f.what.Bad(f.client.Explain(err))
}

// calls counts the calls of a reflector that are under way.
type calls struct {
	mu     sync.Mutex
	count  sync.WaitGroup
	closed bool
}

// begin counts a call; it fails once close was called.
func (c *calls) begin() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return context.Canceled
	}
	c.count.Add(1)
	return nil
}

func (c *calls) end() { c.count.Done() }

// close waits for all calls, whose context must be done.
func (c *calls) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.count.Wait()
}
