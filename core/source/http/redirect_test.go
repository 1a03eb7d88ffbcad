package http

import (
	"fmt"
	nethttp "net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

func redirectTo(code int, to string) nethttp.HandlerFunc {
	return func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(code)
	}
}

func TestRedirectsAreFollowed(t *testing.T) {
	t.Parallel()
	for _, code := range []int{301, 302, 303, 307, 308} {
		t.Run(strconv.Itoa(code), func(t *testing.T) {
			t.Parallel()
			srv := newServer(t, plain)
			srv.set(func(w nethttp.ResponseWriter, r *nethttp.Request) {
				if r.URL.Path == "/a" {
					redirectTo(code, "b?c=d")(w, r)
					return
				}
				answerWith(w, manifestOf("a", "i"))
			})
			r := newReader(t, srv.URL+"/a")
			r.good(t)
			same(t, "deliveries", []string{"replace\n#0 a i"}, r.news())
			last := srv.requests()[1]
			same(t, "request", "GET /b?c=d", last.Method+" "+last.URL.String())
		})
	}
}

func TestRedirectsThatAreNotFollowed(t *testing.T) {
	t.Parallel()
	const only = "; only http and https are followed"
	for name, test := range map[string]struct {
		code     int
		to, want string
	}{
		"to a file":           {302, "file:///etc/passwd", "URL: redirects to file:///etc/passwd" + only},
		"to another protocol": {301, "ftp://h/a", "URL: redirects to ftp://h/a" + only},
		"to nowhere":          {302, "", "URL: answered 302 Found without saying where to; name the place itself in url"},
		"to what is no URL":   {302, "http://h:x/", "URL: answered 302 Found without saying where to"},
		"to no host":          {302, "http:///a", "URL: redirects to a URL without a host"},
		"to a proxy":          {305, "http://127.0.0.1/", "URL: answered 305 Use Proxy"},
		"to a choice":         {300, "/b", "URL: answered 300 Multiple Choices"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := newServer(t, plain)
			srv.set(redirectTo(test.code, test.to))
			r := newReader(t, srv.URL)
			says(t, "health", r.read(t), test.want)
			same(t, "deliveries", nil, r.news())
		})
	}
}

func TestRedirectsHaveAnEnd(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int]string{
		5: "<nil>",
		6: "URL/0: more than 5 redirects, the last to BASE/6; name the place itself in url",
	} {
		srv := newServer(t, plain)
		srv.set(func(w nethttp.ResponseWriter, r *nethttp.Request) {
			var n int
			_, _ = fmt.Sscanf(r.URL.Path, "/%d", &n)
			if n == limit {
				answerWith(w, manifestOf("a", "i"))
				return
			}
			redirectTo(302, fmt.Sprintf("/%d?secret=x", n+1))(w, r)
		})
		r := newReader(t, srv.URL+"/0")
		got := strings.ReplaceAll(r.read(t), "URL: ", "URL/0: ")
		same(t, fmt.Sprintf("health after %d redirects", limit), want, strings.ReplaceAll(got, srv.URL, "BASE"))
	}
}

func TestARedirectFromHTTPSToHTTPIsNotFollowed(t *testing.T) {
	t.Parallel()
	open := newServer(t, plain)
	open.setText(manifestOf("a", "i"))
	ca := newAuthority(t)
	srv := newServer(t, ca.serve(t, nil))
	srv.set(redirectTo(302, open.URL))
	r := newReader(t, srv.URL, func(c *Config) { c.CAFile = ca.file })
	says(t, "health", r.read(t), "URL: redirects from https to "+open.URL+", where others can change the answer; that is not followed")
	same(t, "requests there", 0, len(open.requests()))
}

func TestARedirectFromHTTPToHTTPSIsFollowed(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	secure := newServer(t, ca.serve(t, nil))
	secure.setText(manifestOf("a", "i"))
	srv := newServer(t, plain)
	srv.set(redirectTo(302, secure.URL))
	r := newReader(t, srv.URL, func(c *Config) { c.CAFile = ca.file })
	r.good(t)
	same(t, "pods", []string{"#0 a i"}, r.has())
}

func TestSecretsGoOnlyToTheServerOfTheURL(t *testing.T) {
	t.Parallel()
	other := newServer(t, plain)
	srv := newServer(t, plain)
	headers := place(t, "headers", "Authorization: basic\nX-Token: token\nCookie: a=b\n")
	r := newReader(t, srv.URL, func(c *Config) { c.HeaderFile = headers })
	carries := func(s *server) (got []string) {
		for _, q := range s.requests() {
			got = append(got, q.URL.Path+" "+q.Header.Get("Authorization")+" "+q.Header.Get("X-Token")+" "+q.Header.Get("Cookie"))
		}
		return got
	}
	// The redirects lead to the other server, back, and to another path.
	srv.set(func(w nethttp.ResponseWriter, q *nethttp.Request) {
		switch q.URL.Path {
		case "/":
			redirectTo(307, other.URL+"/there")(w, q)
		case "/back":
			redirectTo(307, "/end")(w, q)
		default:
			answerWith(w, manifestOf("a", "i"))
		}
	})
	other.set(redirectTo(307, srv.URL+"/back"))
	r.good(t)
	same(t, "headers here", []string{"/ basic token a=b", "/back basic token a=b", "/end basic token a=b"}, carries(srv))
	same(t, "headers there", []string{"/there   "}, carries(other))

	other.set(status(401, ""))
	says(t, "health", strings.ReplaceAll(r.read(t), other.URL, "OTHER"), "URL: redirected to OTHER/there: answered 401 Unauthorized; "+
		"it does not take what header_file and client_cert_file say, or that was not sent because it is another server's")
}

func TestTheClientCertificateGoesOnlyToTheServerOfTheURL(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	shown := make(chan int, 10)
	count := func(w nethttp.ResponseWriter, r *nethttp.Request) {
		shown <- len(r.TLS.PeerCertificates)
		answerWith(w, manifestOf("a", "i"))
	}
	other := newServer(t, ca.serve(t, ca.asks))
	other.set(count)
	srv := newServer(t, ca.serve(t, ca.asks))
	srv.set(count)
	cert, key := ca.client(t)
	r := newReader(t, srv.URL, func(c *Config) { c.CAFile, c.ClientCertFile, c.ClientKeyFile = ca.file, cert, key })
	r.good(t)
	same(t, "certificates shown here", 1, <-shown)
	srv.set(func(w nethttp.ResponseWriter, q *nethttp.Request) { redirectTo(307, other.URL)(w, q) })
	r.good(t)
	same(t, "certificates shown there", 0, <-shown)
}

func TestServersAreToldApart(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"http://h/a", "http://h/b?c", true},
		{"http://h", "http://H:80", true},
		{"https://h:443", "https://h", true},
		{"http://[::1]/", "http://[::1]:80/", true},
		{"http://h", "https://h", false},
		{"http://h:443", "https://h:443", false},
		{"http://h", "http://h:8080", false},
		{"http://h", "http://h.example", false},
		{"http://h.example", "http://sub.h.example", false},
	} {
		a, errA := url.Parse(tc.a)
		b, errB := url.Parse(tc.b)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if got := sameOrigin(a, b); got != tc.want {
			t.Errorf("%s and %s: %v, want %v", tc.a, tc.b, got, tc.want)
		}
	}
}
