package http

import (
	"context"
	"errors"
	"fmt"
	nethttp "net/http"
	"net/url"
	"strings"
)

// maxRedirects is the number of redirects that are followed.
const maxRedirects = 5

// follow sends a request, follows at most maxRedirects redirects, and returns the answer.
func (c *client) follow(ctx context.Context, home *url.URL, v validators) (answer, error) {
	at := home
	for range maxRedirects + 1 {
		a, next, err := c.step(ctx, at, home, v)
		if err != nil && at != home {
			err = fmt.Errorf("redirected to %s: %w", shown(at), err)
		}
		if err != nil || next == nil {
			return a, err
		}
		at = next
	}
	return answer{}, fmt.Errorf("more than %d redirects, the last to %s; name the place itself in url", maxRedirects, shown(at))
}

// step sends one request. next is set if the answer is a redirect.
func (c *client) step(ctx context.Context, at, home *url.URL, v validators) (a answer, next *url.URL, err error) {
	resp, err := c.ask(ctx, at, home, v)
	if err != nil {
		return answer{}, nil, err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case nethttp.StatusMovedPermanently, nethttp.StatusFound, nethttp.StatusSeeOther,
		nethttp.StatusTemporaryRedirect, nethttp.StatusPermanentRedirect:
		next, err = redirect(resp, at)
	default:
		a, err = c.receive(resp, at)
	}
	return a, next, err
}

// redirect returns the URL to which a request must be sent again.
func redirect(resp *nethttp.Response, at *url.URL) (*url.URL, error) {
	to, err := resp.Location()
	if err != nil {
		return nil, fmt.Errorf("answered %s without saying where to; name the place itself in url", resp.Status)
	}
	to.User, to.Fragment = nil, ""
	switch {
	case to.Scheme != "http" && to.Scheme != "https":
		return nil, fmt.Errorf("redirects to %s; only http and https are followed", shown(to))
	case at.Scheme == "https" && to.Scheme == "http":
		return nil, fmt.Errorf("redirects from https to %s, where others can change the answer; that is not followed", shown(to))
	case to.Hostname() == "":
		return nil, errors.New("redirects to a URL without a host")
	}
	return to, nil
}

// shown returns a URL without its query, which may be a signature.
func shown(u *url.URL) string {
	plain := *u
	plain.RawQuery, plain.ForceQuery = "", false
	return plain.String()
}

// sameOrigin reports whether two URLs have the same scheme, host and port.
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}
