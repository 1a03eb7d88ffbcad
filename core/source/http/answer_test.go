package http

import (
	"compress/gzip"
	"fmt"
	"io"
	nethttp "net/http"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/manifest"
)

// status returns a handler that answers with a status code and a body.
func status(code int, text string) nethttp.HandlerFunc {
	return func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.WriteHeader(code)
		if text != "" {
			answerWith(w, text)
		}
	}
}

// raw returns a handler that writes this text and closes the connection.
func raw(text string) nethttp.HandlerFunc {
	return func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		conn, buf, err := nethttp.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = buf.WriteString(text)
		_ = buf.Flush()
	}
}

func text(text string) nethttp.HandlerFunc { return status(nethttp.StatusOK, text) }

func page(kind, body string) nethttp.HandlerFunc {
	return func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.Header().Set("Content-Type", kind)
		answerWith(w, body)
	}
}

func TestAnswersThatAreNoneEndNothing(t *testing.T) {
	t.Parallel()
	const (
		empty  = "URL: the answer is empty, which ends nothing; for no pods answer with an empty PodList"
		web    = "URL: the answer is a web page and no manifest; is there a proxy or a login page (captive portal) on the way to the server?"
		nopods = "; the answer is no Pod, PodList or List of Pods"
	)
	for name, test := range map[string]struct {
		answer nethttp.HandlerFunc
		want   string
	}{
		"a status of the server's":    {status(500, manifestOf("b", "i")), "URL: answered 500 Internal Server Error"},
		"not authorised":              {status(401, ""), "URL: answered 401 Unauthorized; does the server want header_file, or client_cert_file?"},
		"not found":                   {status(404, ""), "URL: answered 404 Not Found; is url right? For no pods answer with an empty PodList"},
		"gone":                        {status(410, ""), "URL: answered 410 Gone; is url right? For no pods answer with an empty PodList"},
		"no content":                  {status(204, ""), "URL: answered 204 No Content; for no pods answer with an empty PodList"},
		"a part":                      {status(206, manifestOf("b", "i")), "URL: answered 206 Partial Content"},
		"another status of success":   {status(203, manifestOf("b", "i")), "URL: answered 203 Non-Authoritative Information"},
		"unchanged, without a reason": {status(304, ""), "URL: answered 304 Not Modified"},

		"nothing":                 {text(""), empty},
		"white space":             {text(" \r\n\t\n"), empty},
		"zeros":                   {text("\x00\x00"), empty},
		"a byte order mark":       {text("\ufeff"), empty},
		"comments and separators": {text("# none\n---\n--- # none\n...\n"), empty},

		"a web page":                    {page("text/html; charset=utf-8", "<!DOCTYPE html><html>log in</html>"), web},
		"a web page of another type":    {page("text/plain", "\ufeff\n  <html>log in</html>"), web},
		"XML":                           {page("application/xml", `<?xml version="1.0"?><a/>`), web},
		"a text of a login page":        {page("text/html", "Welcome: log in\n"), "URL:1: apiVersion is missing; a pod has apiVersion v1 and kind Pod" + nopods},
		"a sentence":                    {text("log in first"), "URL:1: not an object; a manifest begins with apiVersion and kind" + nopods},
		"null":                          {text("null"), "URL:1: not an object; a manifest begins with apiVersion and kind" + nopods},
		"an error as JSON":              {text(`{"error":"none"}`), "URL:1: apiVersion is missing; a pod has apiVersion v1 and kind Pod" + nopods},
		"a status of an API server":     {text(`{"apiVersion":"v1","kind":"Status"}`), `URL:1: kind "Status" is not a Pod; a node runs nothing else` + nopods},
		"what is no YAML":               {text("a: [\n"), "URL:1: did not find expected node content" + nopods},
		"a picture":                     {text("\x89PNG\r\n\x1a\n"), "URL:2: control character 0x1a at byte 6" + nopods},
		"a list of what is not allowed": {text("apiVersion: v1\nkind: PodList\nitems: 5\n"), "URL:3: items: expected a list, got a number" + nopods},
		"more documents than are read":  {text(strings.Repeat("---\na: b\n", 1001)), "URL:2001: more than 1000 documents" + nopods},

		"a compression nobody asked for": {func(w nethttp.ResponseWriter, _ *nethttp.Request) {
			w.Header().Set("Content-Encoding", "br")
			answerWith(w, "\x0b\x02\x80")
		}, `URL: the answer is compressed with "br", which was not asked for`},
		"a compression that is broken": {func(w nethttp.ResponseWriter, _ *nethttp.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			answerWith(w, "none of that kind")
		}, "URL: gzip: invalid header"},
		"one that is cut off": {
			raw("HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\n" + manifestOf("b", "i")),
			fmt.Sprintf("URL: the answer broke off after %d bytes", len(manifestOf("b", "i"))),
		},
		"chunks that are cut off": {
			raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\napiVersion: v1\nk"),
			"URL: the answer broke off after 16 bytes",
		},
		"a compressed one that is cut off": {
			raw("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + zipped(manifestOf("b", "i"))[:60]),
			"URL: the answer broke off after ",
		},
		"one whose end cannot be told": {
			raw("HTTP/1.1 200 OK\r\n\r\n" + manifestOf("b", "i")),
			"URL: the answer has neither a length nor chunks, so that its end cannot be told from a broken connection; let the server send Content-Length",
		},
		"one without even a status": {raw(""), "URL: EOF"},
		"another protocol":          {raw("SSH-2.0-OpenSSH\r\n"), "URL: net/http: HTTP/1.x transport connection broken: malformed HTTP response"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := newServer(t, plain)
			r := newReader(t, srv.URL)
			srv.set(test.answer)
			says(t, "health at first", r.read(t), test.want)
			same(t, "deliveries at first", nil, r.news())

			srv.setText(manifestOf("a", "i"))
			r.good(t)
			same(t, "deliveries", []string{"replace\n#0 a i"}, r.news())

			srv.set(test.answer)
			for range 2 {
				says(t, "health later", r.read(t), test.want)
				same(t, "deliveries later", nil, r.news())
			}
		})
	}
}

func zipped(text string) string {
	var b strings.Builder
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return b.String()
}

func TestAnswersThatAreTaken(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer nethttp.HandlerFunc
		want   string
	}{
		"a Pod":                     {text(manifestOf("a", "i")), "replace\n#0 a i"},
		"a Pod as JSON":             {text(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}}`), "replace\n#0 a i"},
		"a PodList":                 {text(list("i", "a", "b")), "replace\n#0.0 a i\n#0.1 b i"},
		"a List":                    {text("apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(manifestOf("a", "i"), "\n", "\n  ")), "replace\n#0.0 a i"},
		"a PodList without pods":    {text(list("i")), "replace"},
		"a List without pods":       {text(`{"apiVersion":"v1","kind":"List","items":[]}`), "replace"},
		"documents":                 {text(manifestOf("a", "i") + "---\n" + manifestOf("b", "i")), "replace\n#0 a i\n#1 b i"},
		"an empty List among them":  {text("# fleet\n" + list("i") + "---\n" + manifestOf("b", "i")), "replace\n#1 b i"},
		"what is called a web page": {page("text/html", manifestOf("a", "i")), "replace\n#0 a i"},
		"what has a byte order mark": {
			text("\ufeff" + manifestOf("a", "i")), "replace\n#0 a i",
		},
		"chunks": {
			raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(manifestOf("a", "i")), manifestOf("a", "i"))),
			"replace\n#0 a i",
		},
		"a compressed one": {
			raw("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + zipped(manifestOf("a", "i"))), "replace\n#0 a i",
		},
		"one of HTTP/1.0 with a length": {
			raw(fmt.Sprintf("HTTP/1.0 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(manifestOf("a", "i")), manifestOf("a", "i"))), "replace\n#0 a i",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := newServer(t, plain)
			srv.set(test.answer)
			r := newReader(t, srv.URL)
			r.good(t)
			same(t, "deliveries", []string{test.want}, r.news())
		})
	}
}

func TestAPodIsThisNodes(t *testing.T) {
	t.Parallel()
	srv := newServer(t, plain)
	srv.setText(manifestOf("a", "i"))
	r := newReader(t, srv.URL, func(c *Config) { c.Namespaces = []string{"other"} })
	r.good(t)
	same(t, "deliveries", []string{
		"apply\n#0 :3: metadata.namespace: Forbidden: \"default\" is outside the namespaces of the tenant this source belongs to: other" + allBad,
	}, r.news())
}

func TestTheProxyOfTheEnvironmentIsUsed(t *testing.T) {
	t.Parallel()
	r := newReader(t, "http://fleet.invalid/")
	r.good(t)
	same(t, "deliveries", []string{"replace\n#0 from-fleet.invalid proxy"}, r.news())
}

// FuzzRead checks that each body is refused with the URL, or that each of its documents has a
// place. Without documents of pods, a body must be a list to end all pods.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"", "<html>", "a: [", "# none\n---\n", list("i"), list("i", "a", "b"), bad("a"), manifestOf("a", "i") + "---\n" + broken,
		`{"apiVersion":"v1","kind":"Status"}`, "\ufeff" + manifestOf("a", "i"), "null", "--- # a\n...\n", "apiVersion: v1\nkind: List\nitems: null\n",
	} {
		f.Add([]byte(seed))
	}
	const url = "http://h/a"
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := read(answer{body: body}, manifest.DecodeFrom{Source: "fleet", Kind: api.KindHTTP, File: url, NodeName: "node"})
		if err != nil {
			if !strings.HasPrefix(err.Error(), url+":") {
				t.Errorf("error without the URL: %v", err)
			}
			return
		}
		pods, faults := 0, 0
		for _, d := range r.docs {
			if !strings.HasPrefix(d.ID, url+"#") || (d.Pod == nil) == (d.Err == nil) {
				t.Errorf("document %+v", d)
			}
			if d.Pod != nil {
				pods++
			} else {
				faults++
			}
		}
		if r.whole && pods == 0 && (faults > 0 || !strings.Contains(string(body), "List")) {
			t.Errorf("ends all pods:\n%s", body)
		}
	})
}
