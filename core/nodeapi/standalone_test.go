package nodeapi

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wardlet/wardlet/test/cluster/pki"
)

// TestServer_withoutACluster requests each route. Only clients with a certificate of the authority
// are served.
func TestServer_withoutACluster(t *testing.T) {
	t.Parallel()
	n := newNode(t, func(c *Config) { c.Client = nil })
	other, err := pki.New("other")
	must(t, err)
	expired, err := n.clients.Expired("admin")
	must(t, err)
	late, err := tls.X509KeyPair(expired.Cert, expired.Key)
	must(t, err)
	for _, r := range routes {
		row, ok := reached[r.pattern]
		if !ok {
			t.Errorf("no row for %s", r.pattern)
			continue
		}
		method, _, _ := strings.Cut(r.pattern, " ")
		for name, test := range map[string]struct {
			who  caller
			want int
		}{
			"nobody":                                {caller{}, 401},
			"a token that some API server knows":    {caller{token: "good"}, 401},
			"a certificate of others":               {caller{cert: n.client(other, "admin", "system:masters")}, 401},
			"a certificate that is over":            {caller{cert: &late}, 401},
			"a certificate of the authority":        {caller{cert: n.client(n.clients, "anybody")}, row.want},
			"a certificate of it, and a bad token ": {caller{cert: n.client(n.clients, "anybody"), token: "bad"}, row.want},
		} {
			if code, text := n.ask(test.who, method, row.path); code != test.want || code == row.want && !strings.Contains(text, row.text) {
				t.Errorf("%s, %s: %d %.200q, want %d %q", r.pattern, name, code, text, test.want, row.text)
			}
		}
	}
	if len(n.api.asked) > 0 {
		t.Errorf("the API server was asked about %s", n.api.asked)
	}
}

// TestServer_withoutLogin checks what is served at the two addresses that need no login.
func TestServer_withoutLogin(t *testing.T) {
	t.Parallel()
	readOnly, health := freeAddress(t), freeAddress(t)
	var mu sync.Mutex
	var sick error
	n := newNode(t, func(c *Config) {
		c.Listen, c.ReadOnlyListen, c.HealthzListen = "", readOnly, health
		c.Health = func() error {
			mu.Lock()
			defer mu.Unlock()
			return sick
		}
	})
	get := func(method, address, path string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+address+path, http.NoBody)
		must(t, err)
		answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		must(t, err)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		must(t, err)
		return answer.StatusCode, string(text)
	}
	for _, r := range routes {
		method, _, _ := strings.Cut(r.pattern, " ")
		row := reached[r.pattern]
		open := strings.HasPrefix(r.pattern, healthzPattern) || strings.HasPrefix(r.pattern, "GET /metrics") || strings.HasPrefix(r.pattern, "GET /stats/") || strings.HasPrefix(r.pattern, "GET /pods")
		code, text := get(method, readOnly, row.path)
		if open && (code != 200 || !strings.Contains(text, row.text)) || !open && code != 404 && code != 405 {
			t.Errorf("read-only, %s: %d %.200q", r.pattern, code, text)
		}
		if strings.Contains(text, "hush") {
			t.Errorf("read-only, %s has the values of variables: %s", r.pattern, text)
		}
		if code, text := get(method, health, row.path); (code == 200) != strings.HasPrefix(r.pattern, healthzPattern) {
			t.Errorf("health, %s: %d %.200q", r.pattern, code, text)
		}
	}
	if c, err := net.Dial("tcp", n.address); err == nil {
		_ = c.Close()
		t.Error("HTTPS is served")
	}
	mu.Lock()
	sick = errors.New("the runtime is away")
	mu.Unlock()
	if _, text := get("GET", readOnly, "/metrics/slis"); !strings.Contains(text, `kubernetes_healthcheck{name="syncloop",type="healthz"} 0`) || !strings.Contains(text, `kubernetes_healthchecks_total{name="syncloop",status="error",type="healthz"} 1`) {
		t.Errorf("without a runtime, the metrics of health are\n%s", text)
	}
	for _, address := range []string{readOnly, health} {
		if code, text := get("GET", address, "/healthz"); code != 500 || text != "the runtime is away\n" {
			t.Errorf("without a runtime: %d %q", code, text)
		}
		for path, want := range map[string]int{"/healthz/ping": 200, "/healthz/log": 200, "/healthz/syncloop": 500, "/healthz/other": 404} {
			if code, text := get("GET", address, path); code != want {
				t.Errorf("without a runtime, %s: %d %q", path, code, text)
			}
		}
	}
}

// TestLimit_connections opens more connections than there are places, from callers that are known
// and from strangers.
func TestLimit_connections(t *testing.T) {
	t.Parallel()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	l := limit(inner, 2)
	accepted := make(chan net.Conn)
	var accepting sync.WaitGroup
	accepting.Go(func() {
		defer close(accepted)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- conn
		}
	})
	dial := func() net.Conn {
		conn, err := net.Dial("tcp", inner.Addr().String())
		must(t, err)
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	dial()
	first := <-accepted
	first.(*limitedConn).known()
	stranger := dial()
	<-accepted
	dial()
	second := <-accepted // takes the place of the stranger, though the first is older
	must(t, stranger.SetReadDeadline(time.Now().Add(10*time.Second)))
	if _, err := stranger.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the stranger is not closed: %v", err)
	}
	second.(*limitedConn).known()
	dial()
	select {
	case <-accepted:
		t.Error("three known callers have a place")
	case <-time.After(100 * time.Millisecond):
	}
	must(t, first.Close())
	_ = first.Close() // a second Close does not free a second place
	third := <-accepted
	third.(*limitedConn).known()
	dial()
	select {
	case <-accepted:
		t.Error("after one has left two have come")
	case <-time.After(100 * time.Millisecond):
	}
	must(t, l.Close())
	accepting.Wait()
	must(t, errors.Join(second.Close(), third.Close()))
}

// TestServer_knownCallers checks that only a caller that may do what it asks for keeps its place.
func TestServer_knownCallers(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	for name, test := range map[string]struct {
		mux         *http.ServeMux
		token, path string
		code        int
		known       bool
	}{
		"nobody":                         {n.server.mux, "", "/pods", 401, false},
		"an unknown token":               {n.server.mux, "bad", "/pods", 401, false},
		"a token without the right":      {n.server.mux, "weak", "/pods", 403, false},
		"it asks for what is not served": {n.server.mux, "weak", "/nothing", 403, false},
		"a token with the right":         {n.server.mux, "good", "/pods", 200, true},
		"what is not served, for it":     {n.server.mux, "good", "/nothing", 404, true},
		"nobody, at the read-only port":  {n.server.readOnly, "", "/pods", 200, false},
	} {
		l := limit(nil, 1)
		c := &limitedConn{of: l}
		l.count, l.strangers = 1, []*limitedConn{c}
		req := httptest.NewRequestWithContext(context.WithValue(t.Context(), connKey{}, c), http.MethodGet, test.path, http.NoBody)
		if test.token != "" {
			req.Header.Set("Authorization", "Bearer "+test.token)
		}
		w := httptest.NewRecorder()
		test.mux.ServeHTTP(w, req)
		if known := len(l.strangers) == 0; w.Code != test.code || known != test.known {
			t.Errorf("%s: %d, known: %v; want %d, %v", name, w.Code, known, test.code, test.known)
		}
	}
}

// TestServer_strangersGiveWay opens more connections than there are places, which never say a word.
// A caller with credentials is served at once.
func TestServer_strangersGiveWay(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	for range maxConnections + 100 {
		conn, err := net.Dial("tcp", n.address)
		must(t, err)
		defer conn.Close()
	}
	began := time.Now()
	if code, text := n.ask(caller{token: "good"}, "GET", "/pods"); code != 200 {
		t.Errorf("%d %.100q", code, text)
	}
	if took := time.Since(began); took > headerTimeout/2 {
		t.Errorf("served after %s", took)
	}
}
