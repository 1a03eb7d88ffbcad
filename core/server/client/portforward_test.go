package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/test/fakestream"
)

// connection returns both ends of a connection on this machine.
func connection(t *testing.T) (near, far net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if near, err = net.Dial("tcp", l.Addr().String()); err == nil {
		far, err = l.Accept()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close() })
	return near, far
}

func TestPortForward_passesBothWays(t *testing.T) {
	t.Parallel()
	socket := socketPath(t)
	answer(t, socket, fakestream.Forward(func(port string, conn io.ReadWriter) error {
		text, err := io.ReadAll(conn)
		fmt.Fprintf(conn, "port %s read %d bytes, ", port, len(text))
		_, _ = conn.Write(text) // a client that is gone reads nothing
		return err
	}).ServeHTTP)
	near, far := connection(t)
	failed := make(chan error, 1)
	go func() { failed <- New(socket).PortForward(t.Context(), "/x", 8080, far) }()
	text := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	go func() {
		_, _ = near.Write(text) // a failure shows in what arrives
		if tcp, ok := near.(*net.TCPConn); ok {
			_ = tcp.CloseWrite() // the pod can still write
		}
	}()
	got, err := io.ReadAll(near)
	if want := fmt.Sprintf("port 8080 read %d bytes, %s", len(text), text); err != nil || string(got) != want {
		t.Errorf("read %d bytes, %.60q, %v; want %d", len(got), got, err, len(want))
	}
	if err := <-failed; err != nil {
		t.Error(err)
	}
}

func TestPortForward_endsWithThePodsConnection(t *testing.T) {
	t.Parallel()
	socket := socketPath(t)
	answer(t, socket, fakestream.Forward(func(_ string, conn io.ReadWriter) error {
		_, err := io.WriteString(conn, "bye")
		return err
	}).ServeHTTP)
	near, far := connection(t) // the near end stays open
	if err := New(socket).PortForward(t.Context(), "/x", 80, far); err != nil {
		t.Error(err)
	}
	if got, err := io.ReadAll(near); err != nil || string(got) != "bye" {
		t.Errorf("read %q, %v", got, err)
	}
}

func TestPortForward_saysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"a port where nothing listens": {
			fakestream.Forward(func(string, io.ReadWriter) error { return errors.New("connection refused") }).ServeHTTP,
			"error forwarding port 80 to pod: connection refused",
		},
		"a refusal": {
			func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "it has ended", http.StatusBadRequest) },
			"the agent at SOCKET refused: it has ended",
		},
		"more to say than anybody reads": {
			fakestream.Forward(func(string, io.ReadWriter) error { return errors.New(strings.Repeat("x", 1<<20)) }).ServeHTTP,
			"error forwarding port 80 to pod: " + strings.Repeat("x", maxForwardError-len("error forwarding port 80 to pod: ")),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket := socketPath(t)
			answer(t, socket, test.answer)
			near, far := connection(t)
			err := New(socket).PortForward(t.Context(), "/x", 80, far)
			if want := strings.ReplaceAll(test.want, "SOCKET", socket); err == nil || err.Error() != want {
				t.Errorf("error:\n%v\nwant:\n%s", err, want)
			}
			if n, err := near.Read(make([]byte, 1)); err == nil {
				t.Errorf("the connection goes on, with %d bytes", n)
			}
		})
	}
}

// PortForward returns when the agent's connection or the context ends, even if the client does not
// read the data.
func TestPortForward_endsThoughNothingIsRead(t *testing.T) {
	t.Parallel()
	for name, hangUp := range map[string]bool{"with its context": false, "with the agent and its client": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket := socketPath(t)
			full, end := make(chan struct{}), make(chan struct{})
			answer(t, socket, func(w http.ResponseWriter, r *http.Request) {
				ctx, cancel := context.WithCancel(r.Context())
				defer cancel()
				go func() {
					select {
					case <-end:
						cancel()
					case <-ctx.Done():
					}
				}()
				fakestream.Forward(func(_ string, conn io.ReadWriter) error {
					close(full)
					for block := make([]byte, 1<<16); ; {
						if _, err := conn.Write(block); err != nil {
							return err
						}
					}
				}).ServeHTTP(w, r.WithContext(ctx))
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			near, far := connection(t)
			failed := make(chan error, 1)
			go func() { failed <- New(socket).PortForward(ctx, "/x", 80, far) }()
			<-full
			if hangUp {
				close(end)
				near.Close() // otherwise the data that has arrived would wait to be read
			} else {
				cancel()
			}
			if err := <-failed; err == nil {
				t.Error("no error")
			}
		})
	}
}
