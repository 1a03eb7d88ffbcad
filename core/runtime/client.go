package runtime

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/experimental"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	podstatus "github.com/wardlet/wardlet/core/status"
)

// DefaultTimeout is how long a call may take unless the caller of Dial says
// otherwise. Some calls get more: see deadline.
const DefaultTimeout = 2 * time.Minute

// maxMessage bounds an answer of the runtime, in bytes.
const maxMessage = 16 << 20

// reconnect is how soon a lost runtime is tried again.
var reconnect = grpc.ConnectParams{
	Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
	MinConnectTimeout: 5 * time.Second,
}

// What gRPC reads a message into comes from a pool, whose buffers have 32 KiB or,
// for the next byte, 1 MiB. A list of 60 pods is longer than the one and much
// shorter than the other, and what is in the pool stays over two garbage
// collections: so the pool has the sizes between these, too.
//
// It is an init function because gRPC wants this to be set before anything uses it:
// Dial is called later.
func init() {
	pool, err := mem.NewBinaryTieredBufferPool(8, 12, 14, 15, 16, 17, 18, 19, 20)
	if err != nil {
		return // it has the sizes it had
	}
	experimental.SetDefaultBufferPool(pool)
}

// Client is the connection to a container runtime. A runtime that is not
// there makes calls fail at once; the connection comes back by itself, about
// a second after the runtime does.
type Client struct {
	endpoint string
	// timeout is that of an ordinary call.
	timeout atomic.Int64
	// observer records every call; nil for none.
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

// Timeout returns that of an ordinary call.
func (c *Client) Timeout() time.Duration { return time.Duration(c.timeout.Load()) }

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

// call sets the deadline of every CRI call and turns gRPC's errors into ones
// that say what is wrong.
func (c *Client) call(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	if limit := deadline(request, c.Timeout()); limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	began := time.Now()
	err := invoke(ctx, method, request, reply, conn, options...)
	if c.observer != nil {
		c.observer.Called(operation(method), time.Since(began), err != nil)
	}
	if err == nil {
		return nil
	}
	return &callError{
		endpoint: c.endpoint,
		method:   method[strings.LastIndexByte(method, '/')+1:],
		took:     time.Since(began),
		status:   status.Convert(err),
		gaveUp:   over(ctx),
	}
}

// deadline is how long a call may take; 0 is no limit of its own.
func deadline(request any, ordinary time.Duration) time.Duration {
	switch r := request.(type) {
	case *runtimeapi.RunPodSandboxRequest:
		return 2 * ordinary
	case *runtimeapi.StopContainerRequest:
		return ordinary + time.Duration(r.GetTimeout())*time.Second
	case *runtimeapi.ExecSyncRequest:
		if r.GetTimeout() == 0 {
			return 0
		}
		return ordinary + time.Duration(r.GetTimeout())*time.Second
	case *runtimeapi.PullImageRequest:
		return 0
	default:
		return ordinary
	}
}

// Observer records how the calls to the runtime go. Its method is called on the goroutine
// of the call, and returns at once.
type Observer interface {
	// Called says that a call has ended, and whether with an error. operation is
	// what a kubelet calls it.
	Called(operation string, took time.Duration, failed bool)
}

// operation is what a kubelet calls a method of the CRI: a sandbox is one word to
// it.
func operation(method string) string {
	name := method[strings.LastIndexByte(method, '/')+1:]
	if name == "UpdateContainerResources" {
		return "update_container"
	}
	var out strings.Builder
	for i, r := range strings.ReplaceAll(name, "PodSandbox", "Podsandbox") {
		if unicode.IsUpper(r) && i > 0 {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}

// The cgroup drivers of runtimes.
const (
	driverCgroupfs = "cgroupfs"
	driverSystemd  = "systemd"
)

// driverTimeout bounds the question for the cgroup driver after a start that failed.
const driverTimeout = 5 * time.Second

// CgroupDriver returns the runtime's cgroup driver, "cgroupfs" or "systemd". It
// returns "" for a runtime that does not report one: containerd before 2.0 lacks
// the call.
func (c *Client) CgroupDriver(ctx context.Context) (string, error) {
	answer, err := c.runtime.RuntimeConfig(ctx, &runtimeapi.RuntimeConfigRequest{})
	switch {
	case status.Code(err) == codes.Unimplemented:
		return "", nil
	case err != nil:
		return "", fmt.Errorf("ask the runtime's cgroup driver: %w", err)
	case answer.GetLinux() == nil: // its zero value would read as systemd
		return "", nil
	}
	switch driver := answer.GetLinux().GetCgroupDriver(); driver {
	case runtimeapi.CgroupDriver_CGROUPFS:
		return driverCgroupfs, nil
	case runtimeapi.CgroupDriver_SYSTEMD:
		return driverSystemd, nil
	default:
		return "", nil
	}
}

// DriverMismatch returns an error with the remedy if the runtime's cgroup driver
// is not the agent's. An unknown driver, "", is no mismatch.
func DriverMismatch(runtimes, agents string) error {
	if runtimes == "" || runtimes == agents {
		return nil
	}
	return fmt.Errorf("the runtime's cgroup driver is %s, the agent's is %s, so no pod can start: set SystemdCgroup = %t in containerd's configuration and restart containerd",
		runtimes, agents, agents == driverSystemd)
}

// explain returns why the runtime refused a start: its cgroup driver first, if
// that is not the agent's, because the runtime's own words do not name it.
func (r *Runtime) explain(ctx context.Context, refused error) error {
	if r.config.CgroupDriver == "" || interrupted(refused) {
		return refused
	}
	ctx, cancel := context.WithTimeout(ctx, driverTimeout)
	defer cancel()
	driver, err := r.config.Client.CgroupDriver(ctx)
	if err != nil {
		return refused
	}
	if mismatch := DriverMismatch(driver, r.config.CgroupDriver); mismatch != nil {
		return fmt.Errorf("%w; the runtime answers: %w", mismatch, refused)
	}
	return refused
}

// sameTime is how much earlier than the client a runtime may say that the time of a call is over, which it was told.
const sameTime = 10 * time.Millisecond

// over reports whether the time of a call is over.
func over(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && time.Until(deadline) < sameTime
}

// callError is a CRI call that failed.
type callError struct {
	endpoint string
	method   string
	took     time.Duration
	status   *status.Status
	// gaveUp is true where the time of the call was over before the runtime answered.
	gaveUp bool
}

// Error is the runtime's own words, or why there are none.
func (e *callError) Error() string {
	text := e.status.Message()
	switch {
	case e.unreachable():
		if _, cause, ok := strings.Cut(text, "Error while dialing: "); ok {
			text = strings.TrimSuffix(cause, `"`)
		}
		return fmt.Sprintf("container runtime at %s does not answer: %s; start it, or mend its endpoint in agent.toml", e.endpoint, text)
	case e.status.Code() == codes.DeadlineExceeded:
		return fmt.Sprintf("container runtime at %s did not answer %s within %s: %s", e.endpoint, e.method, e.took.Round(time.Millisecond), text)
	default:
		return text
	}
}

// GRPCStatus lets google.golang.org/grpc/status find the code.
func (e *callError) GRPCStatus() *status.Status { return e.status }

// Is makes errors.Is find the context's errors, and [podstatus.ErrRuntimeUnavailable].
func (e *callError) Is(target error) bool {
	switch target {
	case context.Canceled:
		return e.status.Code() == codes.Canceled
	case context.DeadlineExceeded:
		return e.status.Code() == codes.DeadlineExceeded
	case podstatus.ErrRuntimeUnavailable:
		return e.unreachable()
	default:
		return false
	}
}

// transportErrors begin the messages gRPC makes itself when there is no
// server. A runtime passes on the code Unavailable, of a registry for
// instance, in words of its own.
var transportErrors = []string{
	"connection error", "last connection error", "error reading from server", "closing transport",
	"transport is closing", "the connection is draining", "the stream is rejected",
}

// unreachable reports whether the runtime itself, not something behind it,
// is away.
func (e *callError) unreachable() bool {
	if e.status.Code() != codes.Unavailable {
		return false
	}
	for _, prefix := range transportErrors {
		if strings.HasPrefix(e.status.Message(), prefix) {
			return true
		}
	}
	return false
}

// interrupted reports whether err says nothing about what was asked for: the
// runtime is away, or the caller has given up.
func interrupted(err error) bool {
	return errors.Is(err, podstatus.ErrRuntimeUnavailable) || errors.Is(err, context.Canceled)
}

func isNotFound(err error) bool { return status.Code(err) == codes.NotFound }

// isFailedPrecondition reports whether the runtime says that what was asked for cannot
// be in the state that things are in.
func isFailedPrecondition(err error) bool { return status.Code(err) == codes.FailedPrecondition }
