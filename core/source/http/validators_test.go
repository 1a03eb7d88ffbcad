package http

import (
	nethttp "net/http"
	"strings"
	"testing"
)

// tagged returns a handler that answers with these headers and this body, or with 304 if the
// request has the validators in these headers.
func tagged(body string, headers ...string) nethttp.HandlerFunc {
	return func(w nethttp.ResponseWriter, r *nethttp.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		if etag := w.Header().Get("ETag"); etag != "" && r.Header.Get("If-None-Match") == etag {
			w.WriteHeader(nethttp.StatusNotModified)
			return
		}
		if r.Header.Get("If-None-Match") == "" && r.Header.Get("If-Modified-Since") != "" &&
			r.Header.Get("If-Modified-Since") == w.Header().Get("Last-Modified") {
			w.WriteHeader(nethttp.StatusNotModified)
			return
		}
		answerWith(w, body)
	}
}

const (
	monday  = "Mon, 05 Jan 2026 10:00:00 GMT"
	second  = "Mon, 05 Jan 2026 10:00:01 GMT"
	minutes = "Mon, 05 Jan 2026 10:05:00 GMT"
)

func TestTheServerIsAskedWhetherItsAnswerHasChanged(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		headers        []string
		etag, modified string
	}{
		"by its tag":                        {[]string{"ETag", `"1"`}, `"1"`, ""},
		"by its weak tag":                   {[]string{"ETag", `W/"1"`}, `W/"1"`, ""},
		"by its time":                       {[]string{"Last-Modified", monday, "Date", minutes}, "", monday},
		"by both":                           {[]string{"ETag", `"1"`, "Last-Modified", monday, "Date", minutes}, `"1"`, monday},
		"not by a time that may come twice": {[]string{"Last-Modified", monday, "Date", second}, "", ""},
		"not by a time that is none":        {[]string{"Last-Modified", "yesterday", "Date", minutes}, "", ""},
		"not by a tag that is longer than sensible": {[]string{"ETag", `"` + strings.Repeat("x", 2000) + `"`}, "", ""},
		"not without either":                        {nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := newServer(t, plain)
			r := newReader(t, srv.URL)
			srv.set(tagged(manifestOf("a", "i"), test.headers...))
			for range 3 {
				r.good(t)
			}
			asked := srv.requests()
			same(t, "validators at first", []string{"", ""},
				[]string{asked[0].Header.Get("If-None-Match"), asked[0].Header.Get("If-Modified-Since")})
			for _, later := range asked[1:] {
				same(t, "validators later", []string{test.etag, test.modified},
					[]string{later.Header.Get("If-None-Match"), later.Header.Get("If-Modified-Since")})
			}
			same(t, "deliveries", []string{"replace\n#0 a i"}, r.news())

			srv.set(tagged(manifestOf("a", "j"), "ETag", `"2"`))
			r.good(t)
			same(t, "deliveries of another body", []string{"replace\n#0 a j"}, r.news())
		})
	}
}

func TestTheValidatorsAreThoseOfWhatWasDeliveredLast(t *testing.T) {
	t.Parallel()
	srv := newServer(t, plain)
	r := newReader(t, srv.URL)
	sent := func() string {
		asked := srv.requests()
		return asked[len(asked)-1].Header.Get("If-None-Match")
	}
	srv.set(tagged(manifestOf("a", "i"), "ETag", `"1"`))
	r.good(t)

	// After a refused answer, the source asks with the tag of the answer before it.
	srv.set(tagged(broken, "ETag", `"2"`))
	r.read(t)
	r.read(t)
	same(t, "tag after an answer that was none", `"1"`, sent())

	// A bad document is delivered, so its tag is used. Otherwise the answer before it could
	// come back as unchanged.
	srv.set(tagged(bad("a"), "ETag", `"3"`))
	r.good(t)
	r.good(t)
	same(t, "tag after a bad document", `"3"`, sent())
	same(t, "deliveries", []string{"replace\n#0 a i", "apply\n#0 :7" + unknown + allBad}, r.news())
	srv.set(tagged(manifestOf("a", "i"), "ETag", `"1"`))
	r.good(t)
	same(t, "deliveries of the first one again", []string{"replace\n#0 a i"}, r.news())

	// An equal body may have another tag.
	srv.set(tagged(manifestOf("a", "i"), "ETag", `"4"`))
	r.good(t)
	r.good(t)
	same(t, "tag of an equal body", `"4"`, sent())
	same(t, "deliveries of an equal body", nil, r.news())
}

func TestATagIsSentOnlyToThePlaceThatGaveIt(t *testing.T) {
	t.Parallel()
	srv := newServer(t, plain)
	r := newReader(t, srv.URL+"/now")
	at := "/1"
	srv.set(func(w nethttp.ResponseWriter, q *nethttp.Request) {
		if q.URL.Path == "/now" {
			nethttp.Redirect(w, q, at, nethttp.StatusFound)
			return
		}
		tagged(manifestOf("at-"+q.URL.Path[1:], "i"), "ETag", `"1"`)(w, q)
	})
	r.good(t)
	r.good(t)
	asked := srv.requests()
	same(t, "tags", []string{"", "", "", `"1"`}, []string{
		asked[0].Header.Get("If-None-Match"), asked[1].Header.Get("If-None-Match"),
		asked[2].Header.Get("If-None-Match"), asked[3].Header.Get("If-None-Match"),
	})
	at = "/2"
	r.good(t)
	same(t, "pods", []string{"#0 at-2 i"}, r.has())
}

func TestATagThatCannotStandInARequestIsNotKept(t *testing.T) {
	t.Parallel()
	for etag, want := range map[string]string{`"1"`: `"1"`, "\"\x01\"": "", "\"\n\"": "", "\"\x7f\"": ""} {
		resp := &nethttp.Response{Header: nethttp.Header{"Etag": {etag}}}
		if got := validatorsOf(resp, "http://h").etag; got != want {
			t.Errorf("of %q %q is kept, want %q", etag, got, want)
		}
	}
}
