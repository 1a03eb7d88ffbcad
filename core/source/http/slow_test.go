package http

import (
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// short is a timeout that is short enough for a test to wait for it.
const short = 200 * time.Millisecond

// drip returns a handler that writes head and then piece again and again, until the connection
// is closed.
func drip(head, piece string) nethttp.HandlerFunc {
	return func(w nethttp.ResponseWriter, q *nethttp.Request) {
		conn, buf, err := nethttp.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		for text := head; ; text = piece {
			if _, err := buf.WriteString(text); err != nil || buf.Flush() != nil {
				return
			}
			select {
			case <-q.Context().Done():
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
}

func TestAServerHasOnlySoMuchTime(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]nethttp.HandlerFunc{
		"that says nothing":             func(_ nethttp.ResponseWriter, q *nethttp.Request) { <-q.Context().Done() },
		"whose head comes by the byte":  drip("HTTP/1.1 200 OK\r\nX-A: ", "a"),
		"whose body comes by the byte":  drip("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", "#"),
		"whose body never ends":         drip("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\n#\r\n"),
		"that makes us wait for a 200":  drip("HTTP/1.1 103 Early Hints\r\n\r\n", "HTTP/1.1 103 Early Hints\r\n\r\n"),
		"that ends all but its trailer": drip("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-A\r\n\r\n0\r\nX-A: ", "a"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := newServer(t, plain)
			srv.set(answer)
			r := newReader(t, srv.URL, func(c *Config) { c.Timeout = short })
			health := r.read(t)
			want := "URL: no whole answer within 200ms; raise timeout if the server needs longer"
			if name == "that makes us wait for a 200" && health != want {
				// The client accepts only a few 1xx answers.
				want = `URL: net/http: HTTP/1.x transport connection broken: net/http: too many 1xx informational responses`
			}
			same(t, "health", want, health)
			same(t, "deliveries", nil, r.news())
			srv.setText(manifestOf("a", "i"))
			r.cfg.Timeout = DefaultTimeout
			r.good(t)
		})
	}
}

func TestRedirectsShareTheTimeOfARequest(t *testing.T) {
	t.Parallel()
	srv := newServer(t, plain)
	srv.set(func(w nethttp.ResponseWriter, q *nethttp.Request) {
		select {
		case <-q.Context().Done():
		case <-time.After(short * 2 / 5):
			redirectTo(302, "/a"+q.URL.Path)(w, q)
		}
	})
	r := newReader(t, srv.URL, func(c *Config) { c.Timeout = short })
	says(t, "health", r.read(t), "URL: no whole answer within 200ms")
}

func TestAnAnswerHasALimit(t *testing.T) {
	t.Parallel()
	const limit = 1000
	pod := manifestOf("a", "i")
	padded := func(size int) string { return pod + strings.Repeat("#", size-len(pod)) }
	const tooLarge = "URL: the answer is larger than 1000 bytes; split it over several sources"
	for name, test := range map[string]struct {
		answer nethttp.HandlerFunc
		want   string
	}{
		"as large as it may be": {text(padded(limit)), "<nil>"},
		"a byte larger":         {text(padded(limit + 1)), tooLarge},
		"larger, in chunks": {func(w nethttp.ResponseWriter, _ *nethttp.Request) {
			for range 3 {
				answerWith(w, padded(limit/2))
				_ = nethttp.NewResponseController(w).Flush()
			}
		}, tooLarge},
		"one that says it is larger": {
			func(w nethttp.ResponseWriter, q *nethttp.Request) {
				w.Header().Set("Content-Length", "1001")
				answerWith(w, pod)
				_ = nethttp.NewResponseController(w).Flush()
				<-q.Context().Done()
			},
			tooLarge,
		},
		"one without end": {func(w nethttp.ResponseWriter, _ *nethttp.Request) {
			for {
				if _, err := io.WriteString(w, padded(limit)); err != nil {
					return
				}
			}
		}, tooLarge},
		"a head without end": {func(w nethttp.ResponseWriter, _ *nethttp.Request) {
			w.Header().Set("X-A", strings.Repeat("a", 2*maxHeaderBytes))
			answerWith(w, pod)
		}, "URL: net/http: HTTP/1.x transport connection broken: net/http: server response headers exceeded 65536 bytes; aborted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := newServer(t, plain)
			srv.set(test.answer)
			r := newReader(t, srv.URL)
			r.client.limit = limit
			says(t, "health", r.read(t), test.want)
		})
	}
}

// TestACompressedAnswerHasTheSameLimit sends about a megabyte that expands to a gigabyte. It is
// not parallel, because allocations of other tests would be measured, too.
func TestACompressedAnswerHasTheSameLimit(t *testing.T) {
	bomb := []byte(strings.Repeat(zipped(strings.Repeat("\n", 1<<20)), 1<<10))
	if len(bomb) > 2<<20 {
		t.Fatalf("%d bytes are sent", len(bomb))
	}
	srv := newServer(t, plain)
	srv.set(func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb)
	})
	r := newReader(t, srv.URL)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	same(t, "health", "URL: the answer is larger than 10485760 bytes; split it over several sources", r.read(t))
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 100<<20 {
		t.Errorf("%d MB were allocated for it", took>>20)
	}
}

func TestASilentConnectionDoesNotFailTheNextReading(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	for name, start := range map[string]func(*httptest.Server){
		"HTTP/1": ca.serve(t, nil),
		"HTTP/2": func(s *httptest.Server) { s.EnableHTTP2 = true; ca.serve(t, nil)(s) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := newServer(t, start)
			srv.setText(manifestOf("a", "i"))
			front := newFront(t, srv.Listener.Addr().String())
			r := newReader(t, "https://"+front.Addr().String(), func(c *Config) { c.CAFile = ca.file })
			r.good(t)
			front.mute()
			r.cfg.Timeout = short
			same(t, "health while it is silent", "URL: no whole answer within 200ms; raise timeout if the server needs longer", r.read(t))
			r.cfg.Timeout = DefaultTimeout
			r.good(t)
		})
	}
}

// front is a proxy between a client and a server.
type front struct {
	net.Listener
	mutes atomic.Int32
}

// mute makes the existing connections stay open without passing anything on.
func (f *front) mute() { f.mutes.Add(1) }

func newFront(t *testing.T, to string) *front {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &front{Listener: l}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				continue
			}
			made := f.mutes.Load()
			pass := func(to, from net.Conn) {
				defer to.Close()
				buf := make([]byte, 32<<10)
				for {
					n, err := from.Read(buf)
					if err != nil {
						return
					}
					if f.mutes.Load() == made {
						_, _ = to.Write(buf[:n])
					}
				}
			}
			go pass(in, out)
			go pass(out, in)
		}
	}()
	return f
}

func TestServersThatAreNotThereAreNamed(t *testing.T) {
	t.Parallel()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	speaksHTTP := newServer(t, plain)
	for url, want := range map[string]string{
		"http://" + gone.Addr().String():                    fmt.Sprintf("URL: dial tcp %s: connect: connection refused; is the server there, and is this node online?", gone.Addr()),
		strings.Replace(speaksHTTP.URL, "http", "https", 1): "URL: tls: first record does not look like a TLS handshake; does the server speak https at this port?",
	} {
		r := newReader(t, url)
		same(t, "health", want, r.read(t))
		same(t, "deliveries", nil, r.news())
	}
}
