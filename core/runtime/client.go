package runtime

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// DefaultTimeout is how long a call may take unless the caller of Dial says
// otherwise. Some calls get more: see the deadlines in call.go.
const DefaultTimeout = 2 * time.Minute

// maxMessage bounds an answer of the runtime, in bytes.
const maxMessage = 16 << 20

// reconnect is how soon a lost runtime is tried again.
var reconnect = grpc.ConnectParams{
	Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
	MinConnectTimeout: 5 * time.Second,
}

// Client is the connection to a container runtime. A runtime that is not
// there makes calls fail at once; the connection comes back by itself, about
// a second after the runtime does.
type Client struct {
	endpoint string
	// timeout is that of an ordinary call.
	timeout atomic.Int64
	// observer is told of every call, nil for nobody.
	observer Observer
	conn     *grpc.ClientConn
	runtime  runtimeapi.RuntimeServiceClient
	images   runtimeapi.ImageServiceClient
}

// Option changes what a Client does.
type Option func(*Client)

// WithObserver has an observer told of every call.
func WithObserver(o Observer) Option { return func(c *Client) { c.observer = o } }

// Dial makes a client for the runtime at endpoint: "unix:///path" or an
// absolute path. timeout is that of an ordinary call, 0 for DefaultTimeout.
// The runtime need not be there yet: an error means the endpoint is wrong.
func Dial(endpoint string, timeout time.Duration, options ...Option) (*Client, error) {
	path := strings.TrimPrefix(endpoint, "unix://")
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("container runtime endpoint %q: must be unix:///path/to/socket or an absolute path", endpoint)
	}
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	c := &Client{endpoint: "unix://" + path}
	c.SetTimeout(timeout)
	for _, option := range options {
		option(c)
	}
	conn, err := grpc.NewClient(c.endpoint,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(reconnect),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)),
		grpc.WithUnaryInterceptor(c.call),
	)
	if err != nil {
		return nil, fmt.Errorf("container runtime endpoint %q: %w", endpoint, err)
	}
	c.conn = conn
	c.runtime = runtimeapi.NewRuntimeServiceClient(conn)
	c.images = runtimeapi.NewImageServiceClient(conn)
	return c, nil
}

// Endpoint is the runtime's address, "unix:///path".
func (c *Client) Endpoint() string { return c.endpoint }

// SetTimeout changes how long an ordinary call may take, for calls that begin
// later. It is positive.
func (c *Client) SetTimeout(d time.Duration) { c.timeout.Store(int64(d)) }

// Close ends the connection; calls under way fail.
func (c *Client) Close() error { return c.conn.Close() }

// Version is what the runtime says it is.
type Version struct {
	// Name is the runtime's name, as in container IDs: "containerd".
	Name string
	// Version is the runtime's own, APIVersion that of its CRI ("v1").
	Version    string
	APIVersion string
}

// Version asks the runtime what it is.
func (c *Client) Version(ctx context.Context) (Version, error) {
	v, err := c.runtime.Version(ctx, &runtimeapi.VersionRequest{})
	if err != nil {
		return Version{}, fmt.Errorf("ask the runtime's version: %w", err)
	}
	return Version{Name: v.GetRuntimeName(), Version: v.GetRuntimeVersion(), APIVersion: v.GetRuntimeApiVersion()}, nil
}
