package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

const (
	// listTimeout is how long a list may take, to its last byte.
	listTimeout = 2 * time.Minute
	// maxPages is how many pages a list may have; the reflector asks for 500
	// pods in each.
	maxPages = 100
	// watchGrace is how long a server may take to end a watch after the time
	// it was asked for.
	watchGrace = 30 * time.Second
	// watchTime is how long a watch lasts if the reflector does not say.
	watchTime = 5 * time.Minute
)

// client lists and watches the pods of one node, and reports how that goes.
// The reflector calls it, from goroutines that may outlive the reflector;
// close waits for them.
type client struct {
	rest      *rest.RESTClient
	transport *transport
	selector  string
	out       *outlet
	short     atomic.Int32
	// pages counts those of the list that is being read.
	pages atomic.Int32

	mu     sync.Mutex
	calls  sync.WaitGroup
	closed bool
}

func newClient(c *Config, out *outlet) (*client, error) {
	t := newTransport(c)
	r, err := rest.RESTClientForConfigAndClient(&rest.Config{
		Host:    c.Server,
		APIPath: "/api",
		ContentConfig: rest.ContentConfig{
			GroupVersion:         &v1.SchemeGroupVersion,
			NegotiatedSerializer: codecs(),
			ContentType:          runtime.ContentTypeProtobuf,
			AcceptContentTypes:   runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON,
		},
		UserAgent:      "wardlet",
		QPS:            -1,
		WarningHandler: rest.NoWarnings{},
	}, &http.Client{Transport: t, CheckRedirect: refuseRedirect})
	if err != nil {
		return nil, fmt.Errorf("API server %q: %w", c.Server, err)
	}
	return &client{
		rest: r, transport: t, out: out,
		selector: fields.OneTermEqualSelector("spec.nodeName", c.NodeName).String(),
	}, nil
}

func refuseRedirect(r *http.Request, _ []*http.Request) error {
	return fmt.Errorf("redirects to %s; redirects are not followed", r.URL.Redacted())
}

// begin counts a call; it fails when the client is closed.
func (c *client) begin() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return context.Canceled
	}
	c.calls.Add(1)
	return nil
}

// close waits for all calls, whose context must be done.
func (c *client) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.calls.Wait()
	c.transport.close()
}

// request is a request whose errors are told by the server and the reflector
// alone: it is not repeated here, for that would take time in which nobody
// hears of them.
func (c *client) request(o *metav1.ListOptions) *rest.Request {
	o.FieldSelector = c.selector
	return c.rest.Get().Resource("pods").SpecificallyVersionedParams(o, metav1.ParameterCodec, v1.SchemeGroupVersion).MaxRetries(0)
}

// ListWithContext gets one page of pods.
func (c *client) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	if err := c.begin(); err != nil {
		return nil, err
	}
	defer c.calls.Done()
	if o.ResourceVersion == "0" {
		// What a cache of the server has may be older than what this node has
		// already seen before it was restarted.
		o.ResourceVersion = ""
	}
	list, err := c.list(ctx, &o)
	if err != nil {
		c.report(err)
		return nil, err
	}
	return list, nil
}

func (c *client) list(ctx context.Context, o *metav1.ListOptions) (*v1.PodList, error) {
	if o.Continue == "" {
		c.pages.Store(0)
	}
	if c.pages.Add(1) > maxPages {
		return nil, fmt.Errorf("the list has more than %d pages", maxPages)
	}
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	list := &v1.PodList{}
	err := c.request(o).Do(ctx).Into(list)
	if err == nil && list.ResourceVersion == "" {
		err = errors.New("the answer is no list of pods: it has no resourceVersion; check that the URL is that of an API server")
	}
	return list, err
}

// WatchWithContext begins a watch.
func (c *client) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	if err := c.begin(); err != nil {
		return nil, err
	}
	o.Watch = true
	length := watchTime
	if o.TimeoutSeconds != nil {
		length = time.Duration(*o.TimeoutSeconds) * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, length+watchGrace)
	last := &outcome{}
	w, err := c.request(&o).Watch(context.WithValue(ctx, outcomeKey{}, last))
	if err != nil {
		c.report(err)
		cancel()
		c.calls.Done()
		return nil, err
	}
	s := &stream{
		inner: w, body: last.body, report: c.report, short: &c.short,
		events: make(chan watch.Event), done: make(chan struct{}),
	}
	if last.err != nil {
		// To the REST client a connection that is lost is a watch without
		// events, which the reflector begins again.
		c.report(last.err)
		s.short = nil
	} else {
		c.out.good()
	}
	go func() {
		defer c.calls.Done()
		defer cancel()
		s.pass()
	}()
	return s, nil
}

// List and Watch are for callers that have no context; the reflector has one.
func (c *client) List(o metav1.ListOptions) (runtime.Object, error) {
	return c.ListWithContext(context.Background(), o)
}

// Watch is like List.
func (c *client) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return c.WatchWithContext(context.Background(), o)
}

// IsWatchListSemanticsUnSupported keeps the reflector from asking for the list
// as a part of the watch. That spares the server memory where lists are long;
// a node's are short, and one way is easier to bound than two.
func (c *client) IsWatchListSemanticsUnSupported() bool { return true }

// report passes an error on. That a resourceVersion is too old, or too new for
// a server that was restored, is part of the protocol: a list follows.
func (c *client) report(err error) {
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) ||
		apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		return
	}
	if more := c.transport.problem(); more != nil && !errors.Is(err, more) {
		err = fmt.Errorf("%w (%w)", err, more)
	}
	c.out.bad(err)
}
