package http

import (
	"bytes"
	"errors"
	"fmt"
	nethttp "net/http"
	"strings"
)

// ownHeaders are the headers that the source sets itself, each with the reason why it cannot be
// configured.
var ownHeaders = map[string]string{
	"Accept-Encoding":     "compression is asked for as it can be read",
	"Connection":          "connections are the agent's",
	"Content-Length":      "a request has no body",
	"Expect":              "a request has no body",
	"Host":                "the host is that of url",
	"If-Match":            "the agent asks whether the answer has changed",
	"If-Modified-Since":   "the agent asks whether the answer has changed",
	"If-None-Match":       "the agent asks whether the answer has changed",
	"If-Range":            "the whole answer is needed",
	"If-Unmodified-Since": "the agent asks whether the answer has changed",
	"Keep-Alive":          "connections are the agent's",
	"Proxy-Connection":    "connections are the agent's",
	"Range":               "the whole answer is needed",
	"Te":                  "a request has no body",
	"Trailer":             "a request has no body",
	"Transfer-Encoding":   "a request has no body",
	"Upgrade":             "connections are the agent's",
}

// parseHeaders parses lines "Name: value". Empty lines and lines that begin with # are ignored.
// Several lines with one name are several values. Errors name file and line, and never show a
// value.
func parseHeaders(file string, data []byte) (nethttp.Header, error) {
	headers := nethttp.Header{}
	number := 0
	for line := range bytes.Lines(data) {
		number++
		text := strings.Trim(string(line), " \t\r\n")
		if text == "" || text[0] == '#' {
			continue
		}
		name, value, err := parseHeader(text)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, number, err)
		}
		headers.Add(name, value)
	}
	return headers, nil
}

func parseHeader(text string) (name, value string, err error) {
	name, value, ok := strings.Cut(text, ":")
	value = strings.Trim(value, " \t")
	switch {
	case !ok:
		return "", "", errors.New("want \"Name: value\", found no colon")
	case name == "" || strings.ContainsFunc(name, notOfToken):
		return "", "", errors.New("want \"Name: value\" where the name has letters, digits and dashes only")
	case strings.ContainsFunc(value, control):
		return "", "", fmt.Errorf("the value of %s has a control character", name)
	}
	if why, own := ownHeaders[nethttp.CanonicalHeaderKey(name)]; own {
		return "", "", fmt.Errorf("%s cannot be set: %s", name, why)
	}
	return name, value, nil
}

// notOfToken reports whether a character cannot be in the name of a header (RFC
// 9110, 5.6.2).
func notOfToken(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	}
	return !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

func control(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
