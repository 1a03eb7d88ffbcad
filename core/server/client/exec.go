package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/client-go/util/exec"
	"k8s.io/streaming/pkg/httpstream"
	streamspdy "k8s.io/streaming/pkg/httpstream/spdy"
)

// execTimeout limits the time that the agent and the runtime have to start a program. The agent
// waits one minute for the runtime.
const execTimeout = 90 * time.Second

// Size is the size of a terminal, in characters.
type Size struct{ Width, Height uint16 }

// Program has the local ends of a program's streams. A stream that is not wanted is nil.
type Program struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// TTY requests a terminal for the program, which then has one output. Sizes delivers the first
	// size of the terminal and each further one, until the channel is closed.
	TTY   bool
	Sizes <-chan Size
}

// Exec runs a program at path ("/v1/exec/...?command=...") until it exits, and returns its exit
// status. At "/v1/attach/...", it connects to the main program of the container, and the status is
// always 0. The query must name the streams that p has. If ctx ends first, Exec returns, and the
// program may continue.
func (c *Client) Exec(ctx context.Context, path string, p *Program) (status int, err error) {
	target, err := url.Parse("http://wardlet" + path)
	if err != nil {
		return 0, err
	}
	u := &upgrade{client: c}
	defer u.close()
	executor, err := remotecommand.NewSPDYExecutorForTransports(u, spdy.NewUpgraderForStreaming(u), http.MethodPost, target)
	if err != nil {
		return 0, err
	}
	options := remotecommand.StreamOptions{Stdin: p.Stdin, Stdout: p.Stdout, Stderr: p.Stderr, Tty: p.TTY}
	if p.Sizes != nil {
		options.TerminalSizeQueue = sizes(p.Sizes)
	}
	// Its log lines would repeat the returned error, or appear at every end.
	err = executor.StreamWithContext(logr.NewContext(ctx, logr.Discard()), options)
	ended, hasEnded := errors.AsType[exec.CodeExitError](err)
	switch {
	case hasEnded:
		return ended.Code, nil
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case u.refused != nil:
		return 0, u.refused
	case !u.told.Load():
		return 0, fmt.Errorf("the agent at %s closed the connection before the program has ended: the agent, the runtime or the container was stopped", c.socket)
	}
	return 0, err
}

type sizes <-chan Size

// Next implements remotecommand.TerminalSizeQueue.
func (s sizes) Next() *remotecommand.TerminalSize {
	next, ok := <-s
	if !ok {
		return nil
	}
	return &remotecommand.TerminalSize{Width: next.Width, Height: next.Height}
}

// upgrade is a connection to the agent that is upgraded to SPDY.
type upgrade struct {
	client *Client
	conn   net.Conn
	// refused is the reason why there is no connection.
	refused error
	// told is set once the agent has reported how the program ended. If it is not set, the connection
	// was interrupted, which the executor treats as success.
	told atomic.Bool
}

// RoundTrip implements http.RoundTripper.
func (u *upgrade) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := u.roundTrip(req)
	u.refused = err
	return resp, err
}

func (u *upgrade) roundTrip(req *http.Request) (*http.Response, error) {
	conn, err := u.client.dial(req.Context(), "", "")
	if err != nil {
		return nil, u.client.explain(err)
	}
	u.conn = conn
	stop := context.AfterFunc(req.Context(), func() { conn.Close() })
	defer stop()
	if err := conn.SetDeadline(time.Now().Add(execTimeout)); err != nil {
		return nil, err
	}
	req = req.Clone(req.Context())
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", streamspdy.HeaderSpdy31)
	if err := req.Write(conn); err != nil {
		return nil, u.client.explain(err)
	}
	reader := bufio.NewReader(conn)
	resp, err := http.ReadResponse(reader, req)
	if err != nil {
		return nil, u.client.explain(err)
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		defer resp.Body.Close()
		return nil, u.client.refusal(resp)
	}
	u.conn = &readAhead{Conn: conn, reader: reader}
	return resp, conn.SetDeadline(time.Time{})
}

// NewConnection implements httpstream.UpgradeRoundTripper.
func (u *upgrade) NewConnection(*http.Response) (httpstream.Connection, error) {
	conn, err := streamspdy.NewClientConnection(u.conn)
	if err != nil {
		return nil, err
	}
	return &listening{Connection: conn, told: &u.told}, nil
}

func (u *upgrade) close() {
	if u.conn != nil {
		u.conn.Close()
	}
}

// readAhead is a connection whose first bytes are in a buffer.
type readAhead struct {
	net.Conn

	reader *bufio.Reader
}

// Close implements net.Conn. A second Close returns no error, because SPDY would wait after one.
func (r *readAhead) Close() error {
	r.Conn.Close()
	return nil
}

// Read implements net.Conn.
func (r *readAhead) Read(p []byte) (int, error) { return r.reader.Read(p) }

// listening sets told when anything arrives in the error stream.
type listening struct {
	httpstream.Connection

	told *atomic.Bool
}

// CreateStream implements httpstream.Connection.
func (l *listening) CreateStream(headers http.Header) (httpstream.Stream, error) {
	stream, err := l.Connection.CreateStream(headers)
	if err != nil || headers.Get(v1.StreamType) != v1.StreamTypeError {
		return stream, err
	}
	return &errorStream{Stream: stream, told: l.told}, nil
}

type errorStream struct {
	httpstream.Stream

	told *atomic.Bool
}

// Read implements io.Reader.
func (s *errorStream) Read(p []byte) (int, error) {
	n, err := s.Stream.Read(p)
	if n > 0 {
		s.told.Store(true)
	}
	return n, err
}
