// Package client asks the agent through its local socket.
//
// Comes in: a path of the local API. Goes out: the decoded answer, or an error
// that says what to do next. The package owns no goroutine beyond a call.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// timeout bounds one question, in case the agent hangs.
const timeout = 10 * time.Second

// Client asks one agent.
type Client struct {
	socket string
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
	http   *http.Client
}

// New makes a client of the agent behind socket. Nothing is opened before the
// first question.
func New(socket string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	return &Client{
		socket: socket,
		dial:   dial,
		http:   &http.Client{Timeout: timeout, Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}},
	}
}

// Patient is a client of the same agent that waits for as long for an answer.
func (c *Client) Patient(timeout time.Duration) *Client {
	return &Client{socket: c.socket, dial: c.dial, http: &http.Client{Timeout: timeout, Transport: c.http.Transport}}
}

// Get asks for path ("/v1/pods", with a query where there is one) and decodes
// the answer into into.
func (c *Client) Get(ctx context.Context, path string, into any) error {
	return c.do(ctx, http.MethodGet, path, into)
}

// Post has the agent do what path says ("/v1/release", with a query) and
// decodes the answer into into.
func (c *Client) Post(ctx context.Context, path string, into any) error {
	return c.do(ctx, http.MethodPost, path, into)
}

func (c *Client) do(ctx context.Context, method, path string, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://wardlet"+path, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return c.explain(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return c.refusal(resp)
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		return fmt.Errorf("cannot read the answer of the agent at %s: %w", c.socket, err)
	}
	return nil
}

// Refusal is an answer of the agent that says why it does not do what it was asked to.
type Refusal struct {
	// Code is the status of HTTP.
	Code            int
	socket, message string
}

// Error implements error.
func (r *Refusal) Error() string {
	return fmt.Sprintf("the agent at %s refused: %s", r.socket, r.message)
}

// maxRefusal bounds the text of a refusal, in bytes.
const maxRefusal = 64 << 10

// refusal is why the agent does not answer as it was asked to: as JSON, or as text where
// logs and programs are served.
func (c *Client) refusal(resp *http.Response) error {
	r := &Refusal{Code: resp.StatusCode, socket: c.socket}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	var refusal struct {
		Error string `json:"error"`
	}
	switch {
	case err == nil && json.Unmarshal(body, &refusal) == nil:
		r.message = refusal.Error
	case err == nil && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain"):
		r.message = strings.TrimSpace(string(body))
	}
	if r.message == "" {
		r.message = resp.Status
	}
	return r
}

// explain says what to do about an agent that does not answer.
func (c *Client) explain(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	errno, ok := errors.AsType[syscall.Errno](err)
	switch {
	case ok && (errno == syscall.ENOENT || errno == syscall.ECONNREFUSED):
		return fmt.Errorf(`the agent does not answer at %s: %w; is it running? start it with "wardlet run"`, c.socket, errno)
	case ok && errno == syscall.EACCES:
		return fmt.Errorf("the agent at %s answers only root and its own user: %w", c.socket, errno)
	}
	return fmt.Errorf("the agent does not answer at %s: %w", c.socket, err)
}
