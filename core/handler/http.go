package handler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// maxRedirects is how often an answer may lead elsewhere on the same host.
const maxRedirects = 10

// client follows redirects on the same host; another host's is an answer.
var client = &http.Client{Transport: oneRequest, CheckRedirect: func(req *http.Request, via []*http.Request) error {
	if req.URL.Hostname() != via[0].URL.Hostname() {
		return http.ErrUseLastResponse
	}
	if len(via) >= maxRedirects {
		return fmt.Errorf("stopped after %d redirects", maxRedirects)
	}
	return nil
}}

// answer is what a server has answered.
type answer struct {
	code int
	body string
}

// send sends the request of an action. The caller closes the body of the answer.
func (r *Runner) send(ctx context.Context, to Target, action *v1.HTTPGetAction) (*http.Response, error) {
	req, err := r.request(ctx, to, action)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, &transportError{err}
	}
	return resp, nil
}

// get sends the request of an action and reads the answer.
func (r *Runner) get(ctx context.Context, to Target, action *v1.HTTPGetAction) (answer, error) {
	resp, err := r.send(ctx, to, action)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxOutput))
	if err != nil {
		return answer{}, &transportError{err}
	}
	return answer{resp.StatusCode, string(body)}, nil
}

// transportError says that no whole answer came.
type transportError struct{ err error }

func (e *transportError) Error() string { return e.err.Error() }
func (e *transportError) Unwrap() error { return e.err }

func (r *Runner) request(ctx context.Context, to Target, action *v1.HTTPGetAction) (*http.Request, error) {
	port, err := portOf(action.Port, to.Container)
	if err != nil {
		return nil, err
	}
	where, err := url.Parse(action.Path)
	if err != nil {
		where = &url.URL{Path: action.Path}
	}
	where.Scheme, where.Host = strings.ToLower(string(action.Scheme)), net.JoinHostPort(hostOr(action.Host, to.IP), strconv.Itoa(port))
	if where.Scheme == "" {
		where.Scheme = "http"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, where.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	for _, h := range action.HTTPHeaders {
		req.Header.Add(h.Name, h.Value)
	}
	for name, value := range map[string]string{"User-Agent": r.Agent, "Accept": "*/*"} {
		switch said, ok := req.Header[name]; {
		case !ok:
			req.Header.Set(name, value)
		case len(said) == 1 && said[0] == "":
			// An empty value asks for no such header.
			delete(req.Header, name)
			if name == "User-Agent" {
				req.Header[name] = nil
			}
		}
	}
	req.Host = req.Header.Get("Host")
	return req, nil
}

// http reports a success for an answer of 200 to 399.
func (r *Runner) http(ctx context.Context, to Target, action *v1.HTTPGetAction) (Outcome, error) {
	got, err := r.get(ctx, to, action)
	if _, ok := errors.AsType[*transportError](err); ok {
		return Outcome{Message: err.Error()}, nil
	}
	if err != nil {
		return Outcome{}, err
	}
	if got.code < http.StatusOK || got.code >= http.StatusBadRequest {
		return Outcome{Message: fmt.Sprintf("HTTP probe failed with statuscode: %d", got.code)}, nil
	}
	if got.code >= http.StatusMultipleChoices {
		return Outcome{OK: true, Warning: true, Message: "Probe terminated redirects, Response body: " + got.body}, nil
	}
	return Outcome{OK: true, Message: got.body}, nil
}
