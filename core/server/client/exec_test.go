package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/test/fakestream"
)

func TestExec_passesStreamsAndTheStatus(t *testing.T) {
	t.Parallel()
	socket := socketPath(t)
	answer(t, socket, fakestream.Program(func(command []string, s *fakestream.Streams) (int, error) {
		text, err := io.ReadAll(s.Stdin)
		fmt.Fprintf(s.Stdout, "%q read %s", command, text)
		fmt.Fprint(s.Stderr, "careful")
		return 7, err
	}).ServeHTTP)
	var out, errOut bytes.Buffer
	status, err := New(socket).Exec(t.Context(), "/x?command=a&command=b+c&stdin=true&stdout=true&stderr=true", &Program{
		Stdin: strings.NewReader("input"), Stdout: &out, Stderr: &errOut,
	})
	if err != nil || status != 7 {
		t.Errorf("status %d, %v", status, err)
	}
	if got := out.String() + errOut.String(); got != `["a" "b c"] read inputcareful` {
		t.Errorf("written: %s", got)
	}
}

func TestExec_resizesTheTerminal(t *testing.T) {
	t.Parallel()
	socket := socketPath(t)
	answer(t, socket, fakestream.Program(func(_ []string, s *fakestream.Streams) (int, error) {
		for range 2 {
			var size Size
			if err := s.Sizes.Decode(&size); err != nil {
				return 0, err
			}
			fmt.Fprintf(s.Stdout, "%dx%d ", size.Width, size.Height)
		}
		return 0, nil
	}).ServeHTTP)
	sizes := make(chan Size, 2)
	sizes <- Size{80, 24}
	sizes <- Size{132, 50}
	close(sizes)
	var out bytes.Buffer
	status, err := New(socket).Exec(t.Context(), "/x?stdout=true&tty=true", &Program{Stdout: &out, TTY: true, Sizes: sizes})
	if err != nil || status != 0 || out.String() != "80x24 132x50 " {
		t.Errorf("status %d, %v, written: %s", status, err, out.String())
	}
}

func TestExec_saysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"a refusal as text": {
			func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "it does not run", http.StatusBadRequest) },
			"the agent at SOCKET refused: it does not run",
		},
		"a refusal as JSON": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusNotFound)
				fmt.Fprint(w, `{"error": "unknown"}`)
			},
			"the agent at SOCKET refused: unknown",
		},
		"a program that cannot be run": {
			fakestream.Program(func([]string, *fakestream.Streams) (int, error) { return 0, errors.New("no such file") }).ServeHTTP,
			"error executing command in container: no such file",
		},
		"a connection that breaks off": {
			fakestream.Program(func([]string, *fakestream.Streams) (int, error) { return fakestream.BreaksOff, nil }).ServeHTTP,
			"the agent at SOCKET closed the connection before the program has ended: the agent, the runtime or the container was stopped",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket := socketPath(t)
			answer(t, socket, test.answer)
			_, err := New(socket).Exec(t.Context(), "/x?stdout=true", &Program{Stdout: io.Discard})
			if want := strings.ReplaceAll(test.want, "SOCKET", socket); err == nil || err.Error() != want {
				t.Errorf("error:\n%v\nwant:\n%s", err, want)
			}
		})
	}
	socket := socketPath(t)
	if _, err := New(socket).Exec(t.Context(), "/x", &Program{}); err == nil || !strings.HasPrefix(err.Error(), "the agent does not answer at "+socket) {
		t.Errorf("without an agent: %v", err)
	}
}

func TestExec_endsWithItsContext(t *testing.T) {
	t.Parallel()
	socket := socketPath(t)
	ctx, cancel := context.WithCancel(t.Context())
	answer(t, socket, fakestream.Program(func(_ []string, s *fakestream.Streams) (int, error) {
		fmt.Fprint(s.Stdout, "begun")
		_, err := io.ReadAll(s.Stdin)
		return 0, err
	}).ServeHTTP)
	in, write := io.Pipe()
	defer write.Close()
	if _, err := New(socket).Exec(ctx, "/x?stdin=true&stdout=true", &Program{Stdin: in, Stdout: cancelling{cancel}}); !errors.Is(err, context.Canceled) {
		t.Errorf("error: %v", err)
	}
}

// cancelling cancels a context at its first write.
type cancelling struct{ cancel func() }

func (c cancelling) Write(p []byte) (int, error) {
	c.cancel()
	return len(p), nil
}

func TestCopy_tellsAnEndFromAConnectionThatBreaksOff(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		hangUp bool
		want   string
	}{
		"an end":    {false, ""},
		"a hang-up": {true, "the agent at SOCKET closed the connection: it was stopped; ask again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket := socketPath(t)
			answer(t, socket, func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprint(w, "one\n")
				if control := http.NewResponseController(w); test.hangUp {
					_ = control.Flush()
					if conn, _, err := control.Hijack(); err == nil {
						conn.Close()
					}
				}
			})
			var out bytes.Buffer
			err := New(socket).Copy(t.Context(), "/x", &out)
			want := strings.ReplaceAll(test.want, "SOCKET", socket)
			if got := fmt.Sprint(err); got != want && (err != nil || want != "") || out.String() != "one\n" {
				t.Errorf("error:\n%v\nwant:\n%s\nwritten: %s", err, want, out.String())
			}
		})
	}
}
