package apiserver

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// say returns a function that answers with a status code, a content type and a body.
func say(code int, kind, body string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
		return true
	}
}

// badAnswers are answers that are not complete lists of pods, with a pattern for the health of
// each.
var badAnswers = map[string]struct {
	answer func(http.ResponseWriter, *http.Request) bool
	health string
}{
	"a page of HTML":                  {say(200, "text/html", "<html>log in</html>"), `text/html|decode`},
	"an empty 200":                    {say(200, "", ""), `0-length response`},
	"an empty 200 that claims JSON":   {say(200, "application/json", ""), `0-length response`},
	"an empty object":                 {say(200, "application/json", "{}"), `no list of pods: it has no resourceVersion; check that the URL`},
	"a list without a version":        {say(200, "application/json", `{"kind":"PodList","apiVersion":"v1","items":[]}`), `no resourceVersion`},
	"a list of something else":        {say(200, "application/json", `{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"9"}}`), `the answer is no list of pods`},
	"a status that says success":      {say(200, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Success"}`), `.`},
	"an array":                        {say(200, "application/json", `[]`), `.`},
	"a list that breaks off":          {say(200, "application/json", `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[`), `unexpected`},
	"a body shorter than announced":   {short, `unexpected EOF`},
	"a body that is broken off":       {abort, `EOF`},
	"protobuf that is none":           {say(200, "application/vnd.kubernetes.protobuf", "k8s\x00garbage"), `.`},
	"a body without end":              {endless, `more than 1048576 bytes`},
	"an error of the server":          {say(500, "text/plain", "out of order"), `out of order`},
	"an error that never ends":        {endlessError, `more than 1048576 bytes|error`},
	"credentials that are refused":    {say(401, "text/plain", ""), `asked for the client to provide credentials.*; renew the token or the certificate`},
	"a node that may not":             {say(403, "text/plain", ""), `; the credentials must be those of system:node:NODE`},
	"too many requests":               {retryLater, `too many requests`},
	"a redirect":                      {redirect("http://192.0.2.1/"), `redirects to http://192.0.2.1/; redirects are not followed`},
	"a redirect to a file":            {redirect("file:///etc/passwd"), `redirects to file:///etc/passwd; redirects are not followed`},
	"a redirect to itself":            {redirect("/api/v1/pods"), `redirects are not followed`},
	"a page of a list that is denied": {secondPage, `second page`},
	"pages without end":               {pagesWithoutEnd, `more than 100 pages`},
}

func short(w http.ResponseWriter, _ *http.Request) bool {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", "1000")
	_, _ = io.WriteString(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[]}`)
	return true
}

func abort(w http.ResponseWriter, _ *http.Request) bool {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[]`)
	flush(w)
	panic(http.ErrAbortHandler)
}

func endless(w http.ResponseWriter, r *http.Request) bool {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[`)
	blank := strings.Repeat(" ", 1<<16)
	for r.Context().Err() == nil {
		if _, err := io.WriteString(w, blank); err != nil {
			break
		}
	}
	return true
}

func endlessError(w http.ResponseWriter, r *http.Request) bool {
	w.WriteHeader(http.StatusInternalServerError)
	return endless(w, r)
}

func retryLater(w http.ResponseWriter, _ *http.Request) bool {
	w.Header().Set("Retry-After", "3600")
	http.Error(w, "too many requests", http.StatusTooManyRequests)
	return true
}

func redirect(to string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusTemporaryRedirect)
		return true
	}
}

func secondPage(w http.ResponseWriter, r *http.Request) bool {
	if r.URL.Query().Get("continue") != "" {
		status(w, http.StatusInternalServerError, metav1.StatusReasonInternalError, "second page")
		return true
	}
	return pagesWithoutEnd(w, r)
}

func pagesWithoutEnd(w http.ResponseWriter, _ *http.Request) bool {
	list := v1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}}
	list.ResourceVersion, list.Continue = "9", "more"
	answer(w, http.StatusOK, list)
	return true
}

// TestBadFirstAnswers checks that a bad first answer delivers nothing and that its error names
// the server. The first complete list is then delivered.
func TestBadFirstAnswers(t *testing.T) {
	t.Parallel()
	for name, test := range badAnswers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, "a")
			f.breaks(test.answer)
			run(t, f.source)
			f.awaitHealth(t, test.health)
			if got := f.sink.all(); len(got) > 0 {
				t.Errorf("delivered: %v", got)
			}
			f.breaks(nil)
			eventually(t, []string{"default/a img:1"}, f.sink.has)
			eventually(t, "<nil>", f.sink.lastHealth)
		})
	}
}

// TestOutage checks that a bad answer after a complete list removes no pods, and that changes
// during the outage are delivered afterwards.
func TestOutage(t *testing.T) {
	t.Parallel()
	for name, test := range badAnswers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, "a", "b", "c")
			run(t, f.source)
			eventually(t, 1, f.watching)
			eventually(t, 3, func() int { return len(f.sink.has()) })
			// All requests get the bad answer, also watches.
			f.breaks(test.answer)
			f.cut(true)
			f.awaitHealth(t, ".")
			f.set("a", "img:2")
			f.remove("b")
			f.set("d", "img:1")
			if got := f.sink.all(); len(got) != 1 {
				t.Errorf("delivered during the outage: %v", got[1:])
			}
			f.breaks(nil)
			eventually(t, []string{"default/a img:2", "default/c img:1", "default/d img:1"}, f.sink.has)
			eventually(t, "<nil>", f.sink.lastHealth)
		})
	}
}

// awaitHealth waits for an error that names the server and matches the pattern.
func (f fixture) awaitHealth(t *testing.T, pattern string) {
	t.Helper()
	want := regexp.MustCompile("API server " + regexp.QuoteMeta(f.URL) + ": .*(" + pattern + ")")
	var got string
	defer func() {
		if t.Failed() {
			t.Logf("health: %s", got)
		}
	}()
	eventually(t, true, func() bool {
		got = f.sink.lastHealth()
		return want.MatchString(got)
	})
}

// TestBrokenWatches checks that a watch that breaks or sends nonsense removes no pods, and that
// no change is missed.
func TestBrokenWatches(t *testing.T) {
	t.Parallel()
	streams := map[string]struct {
		answer func(http.ResponseWriter, *http.Request) bool
		health string
	}{
		"ends at once":                {say(200, "application/json", ""), `ends every watch at once`},
		"is cut off before it begins": {func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }, `EOF`},
		"is HTML":                     {say(200, "text/html", "<html>"), `.`},
		"is no JSON":                  {say(200, "application/json", "nonsense"), `decode`},
		"breaks off in an event":      {say(200, "application/json", `{"type":"ADDED","object":{"kind":"Pod"`), `at once`},
		"has an event without end":    {endless, `more than 1048576 bytes`},
		"has an event without object": {say(200, "application/json", `{"type":"ADDED"}`), `decode`},
		"says an error": {say(200, "application/json",
			`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","message":"etcd is gone","code":500}}`), `etcd is gone`},
	}
	for name, test := range streams {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, "a", "b")
			f.breaks(func(w http.ResponseWriter, r *http.Request) bool { return verb(r) == "watch" && test.answer(w, r) })
			run(t, f.source)
			f.awaitHealth(t, test.health)
			f.set("a", "img:2")
			f.remove("b")
			eventually(t, []string{"default/a img:2"}, f.sink.has)
			f.breaks(nil)
			f.set("c", "img:1")
			eventually(t, []string{"default/a img:2", "default/c img:1"}, f.sink.has)
			eventually(t, "<nil>", f.sink.lastHealth)
			for _, d := range f.sink.all() {
				if d == "=" {
					t.Errorf("an empty snapshot: %v", f.sink.all())
				}
			}
		})
	}
}

// TestResumption checks the requests that follow after a watch has ended.
func TestResumption(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		then func(*fakeServer)
		want []string
		has  []string
	}{
		"the first list is read from storage": {
			then: func(*fakeServer) {},
			want: []string{"list rv=", "watch rv=11"},
			has:  []string{"default/a img:1"},
		},
		"a watch that ends goes on after its last bookmark": {
			then: func(s *fakeServer) { s.cutWith(func() {}) },
			want: []string{"list rv=", "watch rv=11", "watch rv=12"},
			has:  []string{"default/a img:1"},
		},
		"and what happens between two watches is not missed": {
			then: func(s *fakeServer) {
				s.set("a", "img:2")
				s.cutWith(func() { s.set("a", "img:3"); s.set("b", "img:1"); s.remove("a") })
			},
			want: []string{"list rv=", "watch rv=11", "watch rv=13"},
			has:  []string{"default/b img:1"},
		},
		"a version that is too old is followed by a list that is not older": {
			then: func(s *fakeServer) {
				s.cutWith(func() { s.set("b", "img:1"); s.remove("a"); s.compact() })
			},
			want: []string{"list rv=", "watch rv=11", "watch rv=12", "list rv=12", "watch rv=15"},
			has:  []string{"default/b img:1"},
		},
		"a server restored from nothing is not watched from a version that it does not have yet": {
			then: func(s *fakeServer) { s.cutWith(s.reset) },
			want: []string{"list rv=", "watch rv=11", "list rv=12", "list rv=", "watch rv=1"},
		},
		"nor is a server restored from a backup": {
			then: func(s *fakeServer) {
				s.set("b", "img:1")
				s.bookmark()
				s.cutWith(func() { s.reset(); s.set("a", "img:1") })
			},
			want: []string{"list rv=", "watch rv=11", "list rv=14", "list rv=", "watch rv=2"},
			has:  []string{"default/a img:1"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, "a")
			run(t, f.source)
			eventually(t, 1, f.watching)
			test.then(f.fakeServer)
			eventually(t, test.has, f.sink.has)
			eventually(t, test.want, f.asked)
			eventually(t, "<nil>", f.sink.lastHealth)
			if i := slices.IndexFunc(f.sink.health, func(h string) bool { return h != "<nil>" }); i >= 0 {
				t.Errorf("health: %s", f.sink.health[i])
			}
		})
	}
}

// TestRunEnds checks that Run returns nil soon after its context ends, whatever it is doing,
// and delivers nothing after that.
func TestRunEnds(t *testing.T) {
	t.Parallel()
	hang := func(_ http.ResponseWriter, r *http.Request) bool {
		<-r.Context().Done()
		return true
	}
	tests := map[string]struct {
		before func(fixture)
		busy   func(fixture) bool
	}{
		"while it watches":                  {func(fixture) {}, func(f fixture) bool { return f.watching() == 1 }},
		"while the server refuses":          {func(f fixture) { f.Close() }, func(f fixture) bool { return f.sink.lastHealth() != "" }},
		"while a list hangs":                {func(f fixture) { f.breaks(hang) }, func(f fixture) bool { return len(f.asked()) == 1 }},
		"while it waits for the next time":  {func(f fixture) { f.breaks(retryLater) }, func(f fixture) bool { return f.sink.lastHealth() != "" }},
		"while the sink takes its time":     {func(f fixture) { f.sink.block() }, func(f fixture) bool { return f.sink.busy.Load() }},
		"while the body of a list comes in": {func(f fixture) { f.breaks(slowly) }, func(f fixture) bool { return len(f.asked()) == 1 }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, "a")
			f.source.cfg.MaxBackoff = time.Hour
			test.before(f)
			stop := run(t, f.source)
			eventually(t, true, func() bool { return test.busy(f) })
			stop()
			before := f.sink.all()
			f.breaks(nil)
			f.set("b", "img:1")
			if diff := cmp.Diff(before, f.sink.all()); diff != "" {
				t.Errorf("delivered after the end:\n%s", diff)
			}
		})
	}
	t.Run("before it begins", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, "a")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := f.source.Run(ctx); err != nil {
			t.Error(err)
		}
		if got := append(f.sink.all(), f.sink.lastHealth()); len(got) != 1 || got[0] != "" {
			t.Errorf("delivered: %q", got)
		}
	})
}

func slowly(w http.ResponseWriter, r *http.Request) bool {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"kind":"PodList"`)
	flush(w)
	<-r.Context().Done()
	return true
}
