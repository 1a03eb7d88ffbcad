package client

import (
	"context"
	"errors"
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

func TestWatchHandsOverEveryLineUntilTheAnswerEnds(t *testing.T) {
	t.Parallel()
	refused := errors.New("enough")
	for name, test := range map[string]struct {
		answer string
		take   error
		lines  int
		want   string
	}{
		"the agent hangs up": {
			`{"type":"ADDED","object":{"a":1}}` + "\n" + `{"type":"BOOKMARK"}` + "\n", nil, 2,
			"the agent at SOCKET closed the connection: it was stopped, or this program read too slowly; watch again",
		},
		"in the middle of a line": {
			`{"type":"ADDED","obj`, nil, 0,
			"the agent at SOCKET closed the connection: it was stopped, or this program read too slowly; watch again",
		},
		"who takes the lines has had enough": {`{"type":"ADDED"}{"type":"ADDED"}`, refused, 1, "enough"},
		"a line is no JSON":                  {"hello", nil, 0, "cannot read the answer of the agent at SOCKET: invalid character 'h' looking for beginning of value"},
		"a line is something else":           {"[1]", nil, 0, "cannot read the answer of the agent at SOCKET: json: cannot unmarshal array into Go value of type client.Line"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket := socketPath(t)
			answer(t, socket, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, test.answer) })
			lines := 0
			err := New(socket).Watch(t.Context(), "/", func(Line) error {
				lines++
				return test.take
			})
			want := strings.ReplaceAll(test.want, "SOCKET", socket)
			if err == nil || err.Error() != want || lines != test.lines {
				t.Errorf("%d lines, want %d; error:\n%v\nwant:\n%s", lines, test.lines, err, want)
			}
		})
	}
}

func TestWatchSaysWhyItCannotBegin(t *testing.T) {
	t.Parallel()
	socket := socketPath(t)
	err := New(socket).Watch(t.Context(), "/", nil)
	if want := "the agent does not answer at " + socket; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("without an agent: %v", err)
	}
	answer(t, socket, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"error": "too many"}`)
	})
	err = New(socket).Watch(t.Context(), "/", nil)
	if want := "the agent at " + socket + " refused: too many"; err == nil || err.Error() != want {
		t.Errorf("refused: %v", err)
	}
}

func TestWatchEndsWithItsContext(t *testing.T) {
	t.Parallel()
	socket := socketPath(t)
	ctx, cancel := context.WithCancel(t.Context())
	answer(t, socket, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, `{"type":"BOOKMARK"}`)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	err := New(socket).Watch(ctx, "/", func(Line) error {
		cancel()
		return nil
	})
	if err == nil {
		t.Error("no error")
	}
}
