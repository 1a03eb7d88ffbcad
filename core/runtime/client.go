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

// DefaultTimeout is how long a call may take unless the caller of Dial sets another timeout. Some
// calls may take longer; see deadline.
const DefaultTimeout = 2 * time.Minute

// maxMessage is the longest answer of the runtime, in bytes.
const maxMessage = 16 << 20

// reconnect sets how soon the connection to a lost runtime is tried again.
var reconnect = grpc.ConnectParams{
	Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
	MinConnectTimeout: 5 * time.Second,
}

// init replaces gRPC's pool of read buffers, which by default have 32 KiB or, for longer messages,
// 1 MiB. A list of 60 pods is longer than 32 KiB and much shorter than 1 MiB, and buffers stay in
// the pool for two garbage collections. So this pool also has the sizes in between.
//
// It is an init function because gRPC requires the pool to be set before it is used, and Dial is
// called later.
func init() {
	pool, err := mem.NewBinaryTieredBufferPool(8, 12, 14, 15, 16, 17, 18, 19, 20)
	if err != nil {
		return // the default sizes remain
	}
	experimental.SetDefaultBufferPool(pool)
}

// Client is the connection to a container runtime. If the runtime is not available, calls fail at
// once. The connection is restored automatically, about a second after the runtime is available
// again.
type Client struct {
	endpoint string
	// timeout is the timeout of an ordinary call, a time.Duration.
	timeout atomic.Int64
	// observer records every call; nil for none.
	observer Observer
	conn     *grpc.ClientConn
	runtime  runtimeapi.RuntimeServiceClient
	images   runtimeapi.ImageServiceClient
}

// Option is an option of Dial.
type Option func(*Client)

// WithObserver sets an observer that records every call.
func WithObserver(o Observer) Option { return func(c *Client) { c.observer = o } }

// Dial makes a client for the runtime at endpoint: "unix:///path" or an absolute path. timeout is
// the timeout of an ordinary call, 0 for DefaultTimeout. The runtime need not be available yet: an
// error means that the endpoint is invalid.
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

// Endpoint returns the runtime's address, "unix:///path".
func (c *Client) Endpoint() string { return c.endpoint }

// SetTimeout changes the timeout of ordinary calls that begin later. It must be positive.
func (c *Client) SetTimeout(d time.Duration) { c.timeout.Store(int64(d)) }

// Timeout returns the timeout of an ordinary call.
func (c *Client) Timeout() time.Duration { return time.Duration(c.timeout.Load()) }

// Close closes the connection; calls under way fail.
func (c *Client) Close() error { return c.conn.Close() }

// Version is the runtime's description of itself.
type Version struct {
	// Name is the runtime's name, as in container IDs: "containerd".
	Name string
	// Version is the runtime's version, and APIVersion the version of its CRI ("v1").
	Version    string
	APIVersion string
}

// Version returns the name and versions that the runtime reports.
func (c *Client) Version(ctx context.Context) (Version, error) {
	v, err := c.runtime.Version(ctx, &runtimeapi.VersionRequest{})
	if err != nil {
		return Version{}, fmt.Errorf("ask the runtime's version: %w", err)
	}
	return Version{Name: v.GetRuntimeName(), Version: v.GetRuntimeVersion(), APIVersion: v.GetRuntimeApiVersion()}, nil
}

// call sets the deadline of every CRI call and converts gRPC errors into errors that explain the
// cause.
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

// deadline returns the timeout of a call, 0 for no timeout of its own.
func deadline(request any, ordinary time.Duration) time.Duration {
	switch r := request.(type) {
	case *runtimeapi.RunPodSandboxRequest:
		return 2 * ordinary
	case *runtimeapi.StopContainerRequest:
		return ordinary + time.Duration(r.GetTimeout())*time.Second
	case *runtimeapi.CheckpointContainerRequest:
		return max(ordinary, time.Duration(r.GetTimeout())*time.Second)
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

// Observer records the calls to the runtime. Its method is called on the goroutine of the call, and
// must return at once.
type Observer interface {
	// Called records a call that has returned, and whether it failed. operation is a kubelet's name
	// for the call.
	Called(operation string, took time.Duration, failed bool)
}

// operation returns a kubelet's name for a CRI method. The kubelet treats PodSandbox as one word.
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

// driverTimeout limits the call for the cgroup driver after a failed start.
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

// SetPodCIDR tells the runtime the networks of the node's pods, separated by commas. containerd can
// write them into its CNI configuration.
func (c *Client) SetPodCIDR(ctx context.Context, cidrs string) error {
	_, err := c.runtime.UpdateRuntimeConfig(ctx, &runtimeapi.UpdateRuntimeConfigRequest{
		RuntimeConfig: &runtimeapi.RuntimeConfig{NetworkConfig: &runtimeapi.NetworkConfig{PodCidr: cidrs}},
	})
	return err
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

// explain returns why the runtime refused a start. If the runtime's cgroup driver is not the
// agent's, the error begins with that, because the runtime's own message does not mention it.
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

// sameTime is how much earlier than the client a runtime may report that the deadline of a call has
// passed. The runtime gets the deadline from the client.
const sameTime = 10 * time.Millisecond

// over reports whether the deadline of a call has passed or its context is done.
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
	// gaveUp is true if the deadline of the call had passed before the runtime answered.
	gaveUp bool
}

// Error returns the runtime's message, or why there is none.
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

// transportErrors are the prefixes of the messages that gRPC itself creates if there is no server.
// A runtime also returns the code Unavailable, for example from a registry, but with other
// messages.
var transportErrors = []string{
	"connection error", "last connection error", "error reading from server", "closing transport",
	"transport is closing", "the connection is draining", "the stream is rejected",
}

// unreachable reports whether the runtime itself is unavailable, not something behind it.
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

// interrupted reports whether err is unrelated to the request: the runtime is unavailable, or the
// caller has cancelled the call.
func interrupted(err error) bool {
	return errors.Is(err, podstatus.ErrRuntimeUnavailable) || errors.Is(err, context.Canceled)
}

func isNotFound(err error) bool { return status.Code(err) == codes.NotFound }

// isFailedPrecondition reports whether the runtime refused the request because of the current state
// of its object.
func isFailedPrecondition(err error) bool { return status.Code(err) == codes.FailedPrecondition }
