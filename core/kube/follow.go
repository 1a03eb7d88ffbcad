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
	// listTimeout limits the time of a list, to its last byte.
	listTimeout = 2 * time.Minute
	// maxPages is the maximum number of pages of a list; the reflector requests 500 objects per page.
	maxPages = 100
	// watchGrace is the time by which a server may exceed the requested duration of a watch.
	watchGrace = 30 * time.Second
	// watchTime is how long a watch lasts if the reflector does not say.
	watchTime = 5 * time.Minute
	// firstBackoff is the first delay after a failure. After backoffReset without a failure, the
	// delays start again with firstBackoff.
	firstBackoff = time.Second
	backoffReset = time.Minute
)

// DefaultMaxBackoff is the maximum delay between attempts after failures, to which up to half is
// added at random.
const DefaultMaxBackoff = 20 * time.Second

// Selection selects the objects to follow, and has the functions that report the result.
type Selection struct {
	GroupVersion schema.GroupVersion
	// Resource is the plural name, such as "pods". Namespace is empty for all.
	Resource, Namespace string
	// FieldSelector is empty for all objects.
	FieldSelector string
	// Object and List are values of the types that are decoded.
	Object, List runtime.Object
	// Good is called when the server answers without an error, Bad with each error. Afterwards the
	// list or watch continues. Both are called from several goroutines, and not after Follow has
	// returned.
	Good func()
	Bad  func(error)
	// MaxBackoff is the maximum delay; 0 means DefaultMaxBackoff.
	MaxBackoff time.Duration
}

// Store receives the objects, on the goroutine of Follow: a Replace for each complete list, then
// the differences. An error that it returns is treated as an error of the watch.
type Store = cache.ReflectorStore

// Follow lists, then watches until ctx is done, and starts again after every interruption. It waits
// for its goroutines.
//
// An interrupted watch continues from the last resourceVersion, which bookmarks keep up to date. If
// the server no longer has that version ("too old resource version"), or the interruption was
// within an event, Follow lists again; also if contact was lost and the server then has another
// state than before: its storage was restored, or it is the server of another cluster. The first list is read from the server's storage and not
// from a cache that may be outdated, so that a restarted agent never sees older states. A store
// that blocks stops the reading. If it blocks too long for the server, the server ends the watch,
// and unread events are read again.
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

// follower lists and watches for one call of Follow, and reports the results. The reflector calls
// it from goroutines that may outlive the reflector; Follow waits for them.
type follower struct {
	client *Client
	what   *Selection
	calls  calls
	// short counts consecutive watches without use; see shortWatch.
	short atomic.Int32
	// pages counts the pages of the current list.
	pages  atomic.Int32
	origin origin
}

func (f *follower) request(o *metav1.ListOptions) *rest.Request {
	o.FieldSelector = f.what.FieldSelector
	return f.client.Request(http.MethodGet, f.what.GroupVersion).NamespaceIfScoped(f.what.Namespace, f.what.Namespace != "").
		Resource(f.what.Resource).SpecificallyVersionedParams(o, metav1.ParameterCodec, schema.GroupVersion{Version: "v1"})
}

// ListWithContext requests one page of the list.
func (f *follower) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	if err := f.calls.begin(); err != nil {
		return nil, err
	}
	defer f.calls.end()
	if o.ResourceVersion == "0" {
		// A cache of the server may be older than the state that this node has seen before a restart.
		o.ResourceVersion = ""
	}
	list, err := f.list(ctx, &o)
	if err != nil {
		f.report(err)
		return nil, err
	}
	f.origin.setListed()
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

// WatchWithContext starts a watch.
func (f *follower) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	if err := f.calls.begin(); err != nil {
		return nil, err
	}
	o.Watch = true
	length := watchTime
	if o.TimeoutSeconds != nil {
		length = time.Duration(*o.TimeoutSeconds) * time.Second
	}
	if err := f.origin.check(ctx, f.client, o.ResourceVersion); err != nil {
		f.report(err)
		f.calls.end()
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, length+watchGrace)
	last, sent := &outcome{}, time.Now()
	w, err := f.request(&o).Watch(context.WithValue(ctx, outcomeKey{}, last))
	if err != nil {
		f.report(err)
		cancel()
		f.calls.end()
		return nil, err
	}
	s := &stream{
		inner: w, body: last.body, report: f.report, sent: sent, length: length, early: f.origin.setLost, short: &f.short,
		events: make(chan watch.Event), done: make(chan struct{}),
	}
	if last.err != nil {
		// The REST client treats a lost connection as a watch without events, which the reflector
		// restarts.
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

// List and Watch exist for callers without a context; the reflector has one.
func (f *follower) List(o metav1.ListOptions) (runtime.Object, error) {
	return f.ListWithContext(context.Background(), o)
}

// Watch is like List.
func (f *follower) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return f.WatchWithContext(context.Background(), o)
}

// IsWatchListSemanticsUnSupported makes the reflector list separately instead of as a part of the
// watch. A combined list saves memory of the server only if lists are long. A node's are short, and
// one way is easier to limit than two.
func (f *follower) IsWatchListSemanticsUnSupported() bool { return true }

// report passes an error on. It ignores a resourceVersion that is too old, or too new for a
// restored server, because that is part of the protocol: a list follows.
func (f *follower) report(err error) {
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) ||
		apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) || errors.Is(err, context.Canceled) {
		return
	}
	f.origin.setLost()
	f.what.Bad(f.client.Explain(err))
}

// calls counts the active calls of a reflector.
type calls struct {
	mu     sync.Mutex
	count  sync.WaitGroup
	closed bool
}

// begin counts a call; it returns an error after close was called.
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
