// Package client sends requests to the agent through its local socket.
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

// timeout limits the time of one request, in case the agent hangs.
const timeout = 10 * time.Second

// Client sends requests to one agent.
type Client struct {
	socket string
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
	http   *http.Client
}

// New returns a client of the agent behind socket. It connects with the first request.
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

// Patient returns a client of the same agent with another timeout for answers.
func (c *Client) Patient(timeout time.Duration) *Client {
	return &Client{socket: c.socket, dial: c.dial, http: &http.Client{Timeout: timeout, Transport: c.http.Transport}}
}

// Get requests path ("/v1/pods", with a query if needed) and decodes the answer into into.
func (c *Client) Get(ctx context.Context, path string, into any) error {
	return c.do(ctx, http.MethodGet, path, into)
}

// Post sends an order to path ("/v1/release", with a query) and decodes the answer into into.
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

// Refusal is an answer in which the agent refuses a request and says why.
type Refusal struct {
	// Code is the HTTP status.
	Code            int
	socket, message string
}

// Error implements error.
func (r *Refusal) Error() string {
	return fmt.Sprintf("the agent at %s refused: %s", r.socket, r.message)
}

// maxRefusal limits the size of a refusal's text, in bytes.
const maxRefusal = 64 << 10

// refusal returns the error in an answer of the agent. The error is JSON, or text from the
// endpoints for logs and programs.
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

// explain adds what to do if the agent does not answer.
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
