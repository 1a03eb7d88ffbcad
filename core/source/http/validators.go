package http

import (
	nethttp "net/http"
	"strings"
	"time"
)

// validators are what a server said of an answer by which it can tell later
// whether that has changed.
type validators struct {
	// url is where the answer was: another place means other things by them.
	url            string
	etag, modified string
}

// coarse is the coarsest step of modification times: what was changed within
// it may have been changed again without a trace.
const coarse = 2 * time.Second

// maxValidator is the greatest length of one that is sent back.
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

// set puts them on a request for the place they are of.
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

// asked reports whether a request was sent with one.
func asked(req *nethttp.Request) bool {
	return req.Header.Get("If-None-Match") != "" || req.Header.Get("If-Modified-Since") != ""
}

// sendable reports whether a text from a server can stand in a request.
func sendable(text string) bool {
	return len(text) <= maxValidator && !strings.ContainsFunc(text, control)
}
