package http

import (
	nethttp "net/http"
	"strings"
	"time"
)

// validators are the headers of an answer with which the server can later tell whether the answer
// has changed.
type validators struct {
	// url is the URL of the answer. Validators are valid only for their URL.
	url            string
	etag, modified string
}

// coarse is the coarsest resolution of modification times. Content that was changed within this
// time may have been changed again without a new time.
const coarse = 2 * time.Second

// maxValidator is the greatest length of a validator that is sent back.
const maxValidator = 1 << 10

func validatorsOf(resp *nethttp.Response, url string) validators {
	v := validators{url: url}
	if etag := resp.Header.Get("ETag"); sendable(etag) {
		v.etag = etag
	}
	modified, err := nethttp.ParseTime(resp.Header.Get("Last-Modified"))
	if err != nil {
		return v
	}
	if date, err := nethttp.ParseTime(resp.Header.Get("Date")); err == nil && date.Sub(modified) >= coarse {
		v.modified = modified.UTC().Format(nethttp.TimeFormat)
	}
	return v
}

// set adds the validators to a request for their URL.
func (v validators) set(req *nethttp.Request) {
	if req.URL.String() != v.url {
		return
	}
	if v.etag != "" {
		req.Header.Set("If-None-Match", v.etag)
	}
	if v.modified != "" {
		req.Header.Set("If-Modified-Since", v.modified)
	}
}

// asked reports whether a request was sent with a validator.
func asked(req *nethttp.Request) bool {
	return req.Header.Get("If-None-Match") != "" || req.Header.Get("If-Modified-Since") != ""
}

// sendable reports whether a text from a server may be sent in a request.
func sendable(text string) bool {
	return len(text) <= maxValidator && !strings.ContainsFunc(text, control)
}
