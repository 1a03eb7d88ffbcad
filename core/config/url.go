package config

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// checkURL takes a URL that a request can be sent to and that can be shown:
// what is secret does not belong in it.
func checkURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		// The text may hold a password.
		return nil, fmt.Errorf("is no URL: %w", wrapped.Err)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("is no URL: %w", err)
	case u.User != nil:
		return nil, errors.New("holds a user or password, which would be shown in logs; " +
			"send them with header_file, as a line \"Authorization: Basic ...\"")
	case u.Scheme != "http" && u.Scheme != "https":
		// The text may hold a password here too: "user:password@host".
		return nil, errors.New("want a URL that begins with https:// or http://")
	case u.Hostname() == "" || u.Opaque != "":
		return nil, fmt.Errorf("%q names no host", text)
	case strings.Contains(text, "#"):
		return nil, fmt.Errorf("%q has a fragment, which no server gets to see; remove all from the #", text)
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return nil, fmt.Errorf("%q has no port between 1 and 65535", text)
		}
	}
	return u, nil
}
