package client

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func socketPath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "wardlet") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "w.sock")
}

// answer serves one handler on socket until the test ends.
func answer(t *testing.T, socket string, h http.HandlerFunc) {
	t.Helper()
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: h}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = srv.Serve(l)
	}()
	t.Cleanup(func() {
		srv.Close()
		<-ended
	})
}

func TestGetDecodesTheAnswer(t *testing.T) {
	t.Parallel()
	socket := socketPath(t)
	answer(t, socket, func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, `{"asked": %q}`, r.URL.String()) })
	var got struct{ Asked string }
	if err := New(socket).Get(t.Context(), "/v1/x?y=z", &got); err != nil {
		t.Fatal(err)
	}
	if got.Asked != "/v1/x?y=z" {
		t.Errorf("asked for %q", got.Asked)
	}
}

func TestGetSaysWhatToDoAbout(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		prepare func(t *testing.T, socket string)
		want    string
	}{
		"an agent that never ran": {
			func(*testing.T, string) {},
			`the agent does not answer at SOCKET: no such file or directory; is it running? start it with "wardlet run"`,
		},
		"an agent that died": {
			func(t *testing.T, socket string) {
				t.Helper()
				l, err := net.Listen("unix", socket)
				if err != nil {
					t.Fatal(err)
				}
				l.(*net.UnixListener).SetUnlinkOnClose(false)
				l.Close()
			},
			`the agent does not answer at SOCKET: connection refused; is it running? start it with "wardlet run"`,
		},
		"an agent that hangs up": {
			func(t *testing.T, socket string) {
				t.Helper()
				answer(t, socket, func(w http.ResponseWriter, _ *http.Request) {
					conn, _, err := w.(http.Hijacker).Hijack()
					if err != nil {
						t.Error(err)
						return
					}
					conn.Close()
				})
			},
			"the agent does not answer at SOCKET: EOF",
		},
		"a refusal, in the agent's words": {
			func(t *testing.T, socket string) {
				t.Helper()
				answer(t, socket, func(w http.ResponseWriter, _ *http.Request) {
					w.WriteHeader(http.StatusForbidden)
					fmt.Fprint(w, `{"error": "not you"}`)
				})
			},
			"the agent at SOCKET refused: not you",
		},
		"a refusal without words": {
			func(t *testing.T, socket string) {
				t.Helper()
				answer(t, socket, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
			},
			"the agent at SOCKET refused: 418 I'm a teapot",
		},
		"an answer that is no JSON": {
			func(t *testing.T, socket string) {
				t.Helper()
				answer(t, socket, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })
			},
			"cannot read the answer of the agent at SOCKET: invalid character 'h' looking for beginning of value",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket := socketPath(t)
			test.prepare(t, socket)
			err := New(socket).Get(t.Context(), "/", &struct{}{})
			want := strings.ReplaceAll(test.want, "SOCKET", socket)
			if err == nil || err.Error() != want {
				t.Errorf("error:\n%v\nwant:\n%s", err, want)
			}
		})
	}
}

func TestGetEndsWithItsContext(t *testing.T) {
	t.Parallel()
	socket := socketPath(t)
	ctx, cancel := context.WithCancel(t.Context())
	answer(t, socket, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	if err := New(socket).Get(ctx, "/", nil); err == nil {
		t.Error("no error")
	}
}
