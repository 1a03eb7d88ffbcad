package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/nodeapi"
	"github.com/wardlet/wardlet/core/server/client"
	"github.com/wardlet/wardlet/test/fakestream"
)

// containers imitates a runtime that runs functions in place of programs.
type containers struct {
	dir     string
	runs    atomic.Bool
	runtime *httptest.Server
}

func (c *containers) LogPath(_ context.Context, id string) (string, error) {
	return filepath.Join(c.dir, id), nil
}

func (c *containers) Runs(*v1.Pod, string) bool { return c.runs.Load() }

func (c *containers) AttachURL(ctx context.Context, id string, what *nodeapi.Exec) (*url.URL, error) {
	what.Command = []string{"main-" + id}
	return c.ExecURL(ctx, id, what)
}

func (c *containers) PortForwardURL(context.Context, *v1.Pod, []int32) (*url.URL, error) {
	return url.Parse(c.runtime.URL + "/ports")
}

func (c *containers) ExecURL(_ context.Context, _ string, what *nodeapi.Exec) (*url.URL, error) {
	query := url.Values{"command": what.Command}
	for name, on := range map[string]bool{"stdin": what.Stdin, "stdout": what.Stdout, "stderr": what.Stderr, "tty": what.TTY} {
		if on {
			query.Set(name, "true")
		}
	}
	return url.Parse(c.runtime.URL + "/?" + query.Encode())
}

// program imitates the programs that containers run.
func program(command []string, s *fakestream.Streams) (int, error) {
	switch command[0] {
	case "echo":
		fmt.Fprintln(s.Stdout, strings.Join(command[1:], " "))
	case "cat":
		_, err := io.Copy(s.Stdout, s.Stdin)
		return 0, err
	case "fail":
		fmt.Fprintln(s.Stderr, "it fails")
		return 42, nil
	case "size":
		for {
			var size client.Size
			if err := s.Sizes.Decode(&size); err != nil {
				return 0, err
			}
			fmt.Fprintf(s.Stdout, "%dx%d\r\n", size.Width, size.Height)
			if size.Height == 50 {
				return 3, nil
			}
		}
	case "gone":
		return fakestream.BreaksOff, nil
	case "main-m1":
		fmt.Fprintln(s.Stdout, "goes on")
		fmt.Fprintln(s.Stderr, "carefully")
		if s.Stdin != nil {
			text, err := io.ReadAll(s.Stdin)
			fmt.Fprintf(s.Stdout, "read %q\n", text)
			return 0, err
		}
	case "main-t1":
		fmt.Fprintf(s.Stdout, "on a terminal: %t, standard error: %t\n", s.Sizes != nil, s.Stderr != nil)
	case "main-w1":
		fmt.Fprintln(s.Stdout, "goes on")
		<-s.Gone
	default:
		return 0, fmt.Errorf("%q: no such file", command[0])
	}
	return 0, nil
}

// writing runs an agent whose pods have written to their logs.
func writing(t *testing.T) (c *containers, socket string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/", fakestream.Program(program))
	mux.Handle("/ports", fakestream.Forward(listening))
	c = &containers{dir: t.TempDir(), runtime: httptest.NewServer(mux)}
	t.Cleanup(c.runtime.Close)
	c.write(t, "m0", "2026-01-02T11:59:00Z stdout F before\n")
	c.write(t, "m1", "2026-01-02T11:50:00Z stdout F one\n2026-01-02T11:59:30Z stderr F \x1b[31mtwo\n2026-01-02T11:59:59.5Z stdout F three\n")
	c.write(t, "s1", "2026-01-02T11:50:00Z stdout F set up\n")
	of := func(name, id string) v1.ContainerStatus {
		return v1.ContainerStatus{Name: name, ContainerID: "fake://" + id, State: v1.ContainerState{Running: &v1.ContainerStateRunning{}}}
	}
	main := of("main", "m1")
	main.LastTerminationState.Terminated = &v1.ContainerStateTerminated{ContainerID: "fake://m0"}
	setup := of("setup", "s1")
	setup.State = v1.ContainerState{Terminated: &v1.ContainerStateTerminated{ContainerID: "fake://s1"}}
	pods := []v1.Pod{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-edge", UID: "u1"},
		Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "main"}, {Name: "side"}}, InitContainers: []v1.Container{{Name: "setup"}}},
		Status: v1.PodStatus{
			InitContainerStatuses: []v1.ContainerStatus{setup},
			ContainerStatuses:     []v1.ContainerStatus{main, {Name: "side", State: v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}}},
		},
	}, {
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db", UID: "u2", Annotations: map[string]string{defaultContainer: "second"}},
		Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "first"}, {Name: "second"}}},
		Status:     v1.PodStatus{ContainerStatuses: []v1.ContainerStatus{of("first", "s1"), of("second", "m0")}},
	}, {
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "one", UID: "u3", Annotations: map[string]string{defaultContainer: "none"}},
		Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "only"}}},
		Status:     v1.PodStatus{ContainerStatuses: []v1.ContainerStatus{of("only", "m0")}},
	}}
	pods = append(pods, v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "shell", UID: "u4"},
		Spec: v1.PodSpec{Containers: []v1.Container{
			{Name: "tty", TTY: true, Ports: []v1.ContainerPort{{Name: "http", ContainerPort: 80}}}, {Name: "waits"},
		}},
		Status: v1.PodStatus{ContainerStatuses: []v1.ContainerStatus{of("tty", "t1"), of("waits", "w1")}},
	})
	streams := &nodeapi.Streams{Pods: podsOnly(pods), Containers: c, Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return noon }}
	socket, _ = serve(t, &knowledge{
		pods: [][]v1.Pod{pods}, logs: http.HandlerFunc(streams.Logs), exec: http.HandlerFunc(streams.Exec),
		attach: http.HandlerFunc(streams.Attach), forward: http.HandlerFunc(streams.PortForward),
	})
	return c, socket
}

type podsOnly []v1.Pod

func (p podsOnly) PodList() *v1.PodList { return &v1.PodList{Items: p} }

func (c *containers) write(t *testing.T, id, text string) {
	t.Helper()
	file, err := os.OpenFile(filepath.Join(c.dir, id), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestLogs(t *testing.T) {
	t.Parallel()
	_, socket := writing(t)
	for name, args := range map[string][]string{
		"logs":                  {"shop/web"},
		"logs-container":        {"-n", "shop", "web-edge", "-c", "main"},
		"logs-second-argument":  {"pod/web", "setup", "-n", "shop"},
		"logs-tail":             {"shop/web", "main", "--tail", "1", "--timestamps"},
		"logs-tail-none":        {"shop/web", "main", "--tail=0"},
		"logs-since":            {"shop/web", "main", "--since", "90s"},
		"logs-since-time":       {"shop/web", "main", "--since-time", "2026-01-02T11:59:59Z"},
		"logs-limit":            {"shop/web", "main", "--limit-bytes", "5"},
		"logs-previous":         {"shop/web", "main", "-p"},
		"logs-no-previous":      {"shop/one", "-p"},
		"logs-default":          {"shop/db"},
		"logs-default-missing":  {"shop/one"},
		"logs-waiting":          {"shop/web", "-c", "side"},
		"logs-no-container":     {"shop/web", "-c", "man"},
		"logs-no-pod":           {"shop/wep"},
		"logs-other-namespace":  {"-n", "default", "web"},
		"logs-all":              {"shop/web", "--all-containers"},
		"logs-all-prefix":       {"shop/db", "--all-containers", "--prefix"},
		"logs-all-named":        {"shop/web", "main", "--all-containers"},
		"logs-prefix":           {"shop/web", "main", "--prefix", "--tail", "2"},
		"logs-of-what-is-ended": {"shop/web", "setup", "-f"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name, wardlet(t.Context(), append([]string{"logs", "--socket", socket}, args...)...), socket, "SOCKET")
		})
	}
}

func TestLogs_followUntilTheContainerEnds(t *testing.T) {
	t.Parallel()
	c, socket := writing(t)
	c.runs.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	got := wardletTelling(ctx, func(out string) {
		switch {
		case strings.HasSuffix(out, "three\n"):
			c.write(t, "m1", "2026-01-02T12:00:00Z stdout F four\n")
		case strings.HasSuffix(out, "four\n"):
			c.write(t, "m1", "2026-01-02T12:00:00Z stdout F five\n")
			c.runs.Store(false)
		}
	}, "logs", "--socket", socket, "shop/web", "main", "-f", "--tail", "1")
	if want := "three\nfour\nfive\n--- exit status 0\n"; got != want {
		t.Errorf("printed:\n%s\nwant:\n%s", got, want)
	}
}

func TestLogs_followAllContainers(t *testing.T) {
	t.Parallel()
	c, socket := writing(t)
	c.runs.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	before := 0
	got := wardletTelling(ctx, func(out string) {
		if n := strings.Count(out, "\n"); n == before || n < 2 {
			return
		}
		before = strings.Count(out, "\n")
		switch before {
		case 2:
			c.write(t, "s1", "2026-01-02T12:00:00Z stdout P fo\n")
			c.write(t, "m0", "2026-01-02T12:00:00Z stdout F five\n")
		case 3:
			c.write(t, "s1", "2026-01-02T12:00:00Z stdout F ur\n")
		default:
			c.runs.Store(false)
		}
	}, "logs", "--socket", socket, "shop/db", "--all-containers", "--prefix", "-f", "--tail", "1")
	lines := strings.Split(got, "\n")
	slices.Sort(lines[:min(2, len(lines))])
	want := "[pod/db/first] set up\n[pod/db/second] before\n[pod/db/second] five\n[pod/db/first] four\n--- exit status 0\n"
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("printed:\n%s\nwant:\n%s", got, want)
	}
}

func TestLineWriter(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	long := strings.Repeat("x", maxHeldLine+1)
	for name, c := range map[string]struct{ in, want []string }{
		"pieces":    {[]string{"a", "b\nc", "\n\nd"}, []string{"> ab\n", "> c\n", "> \n", "> d"}},
		"long":      {[]string{long, "y\nz\n"}, []string{"> " + long, "y\n", "> z\n"}},
		"no writes": {nil, nil},
	} {
		var got recordedWrites
		w := &lineWriter{to: &got, mu: &mu, prefix: "> "}
		for _, piece := range c.in {
			if n, err := w.Write([]byte(piece)); n != len(piece) || err != nil {
				t.Errorf("%s: %d, %v", name, n, err)
			}
		}
		w.flush()
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %.200q, want %.200q", name, got, c.want)
		}
	}
}

// recordedWrites keeps each write as a text of its own.
type recordedWrites []string

func (w *recordedWrites) Write(p []byte) (int, error) {
	*w = append(*w, string(p))
	return len(p), nil
}

func TestLogs_endWellWhenAFollowerIsInterrupted(t *testing.T) {
	t.Parallel()
	c, socket := writing(t)
	c.runs.Store(true)
	got := wardletUntil(t, "three", 1, "logs", "--socket", socket, "shop/web", "main", "-f", "--tail", "1")
	if want := "three\n--- exit status 0\n"; got != want {
		t.Errorf("printed:\n%s\nwant:\n%s", got, want)
	}
}

func TestExec(t *testing.T) {
	t.Parallel()
	_, socket := writing(t)
	for name, args := range map[string][]string{
		"exec":                 {"shop/web", "--", "echo", "-n", "hello", "-update"},
		"exec-stdin":           {"-i", "-n", "shop", "web", "-c", "main", "--", "cat"},
		"exec-status":          {"shop/db", "--", "fail"},
		"exec-no-terminal":     {"-it", "shop/db", "--", "cat"},
		"exec-tty-alone":       {"-t", "shop/db", "--", "echo", "hello"},
		"exec-no-program":      {"shop/db", "--", "nothing"},
		"exec-breaks-off":      {"shop/db", "--", "gone"},
		"exec-does-not-run":    {"shop/web", "-c", "side", "--", "echo"},
		"exec-no-container":    {"shop/web", "-c", "man", "--", "echo"},
		"exec-no-pod":          {"shop/bd", "--", "echo"},
		"exec-default-missing": {"shop/one", "--", "echo"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := wardletReading(t.Context(), strings.NewReader("from standard input\n"), func(string) {},
				append([]string{"exec", "--socket", socket}, args...)...)
			golden(t, name, got, socket, "SOCKET")
		})
	}
}

func TestAttach(t *testing.T) {
	t.Parallel()
	_, socket := writing(t)
	for name, args := range map[string][]string{
		"attach":              {"shop/web"},
		"attach-stdin":        {"-i", "-n", "shop", "web-edge", "-c", "main"},
		"attach-quiet":        {"-iq", "shop/web"},
		"attach-no-tty":       {"-it", "shop/web"},
		"attach-tty":          {"-it", "shop/shell", "-c", "tty"},
		"attach-tty-alone":    {"-t", "shop/shell", "-c", "tty"},
		"attach-does-not-run": {"shop/web", "-c", "side"},
		"attach-no-container": {"shop/web", "-c", "man"},
		"attach-no-pod":       {"shop/wep"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := wardletReading(t.Context(), strings.NewReader("from standard input\n"), func(string) {},
				append([]string{"attach", "--socket", socket}, args...)...)
			golden(t, name, got, socket, "SOCKET")
		})
	}
}

func TestAttach_endsWellWhenInterrupted(t *testing.T) {
	t.Parallel()
	_, socket := writing(t)
	got := wardletUntil(t, "goes on", 1, "attach", "--socket", socket, "shop/shell", "-c", "waits")
	if want := "goes on\n--- exit status 0\n"; got != want {
		t.Errorf("printed:\n%s\nwant:\n%s", got, want)
	}
}

func TestContainerOut_keepsCharactersWhole(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	w := &wholeCharacters{to: &got}
	for _, part := range []string{"a\xe2", "\x82", "\xac", "b\xff", "\xf0\x9f", "\x98"} {
		before := got.String()
		if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
			t.Errorf("%q: %d, %v", part, n, err)
		}
		if part == "\xe2\x82" && got.String() != before {
			t.Errorf("%q is written in part", part)
		}
	}
	if want := "a€b\xff"; got.String() != want {
		t.Errorf("written: %q, want %q", got.String(), want)
	}
	w.flush()
	if want := "a€b\xff\xf0\x9f\x98"; got.String() != want {
		t.Errorf("at the end: %q, want %q", got.String(), want)
	}
}

func TestExec_hasTheTerminal(t *testing.T) {
	t.Parallel()
	_, socket := writing(t)
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err := errors.Join(err, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)); err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	fd := int(terminal.Fd())
	resize := func(width, height uint16) {
		if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: width, Row: height}); err != nil {
			t.Error(err)
		}
	}
	resize(80, 24)
	before, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	got := wardletReading(t.Context(), terminal, func(out string) {
		if strings.HasSuffix(out, "80x24\r\n") {
			during, err := unix.IoctlGetTermios(fd, unix.TCGETS)
			if err != nil || during.Lflag&(unix.ECHO|unix.ICANON|unix.ISIG) != 0 {
				t.Errorf("the terminal handles keys: %v", err)
			}
			resize(132, 50)
			_ = unix.Kill(os.Getpid(), unix.SIGWINCH) // the output shows the new size
		}
	}, "exec", "--socket", socket, "-it", "shop/db", "--", "size")
	want := "80x24\r\n132x50\r\n--- stderr\nwardlet: command terminated with exit code 3\n--- exit status 3\n"
	if got != want {
		t.Errorf("printed:\n%q\nwant:\n%q", got, want)
	}
	if after, err := unix.IoctlGetTermios(fd, unix.TCGETS); err != nil || *after != *before {
		t.Errorf("the terminal is not as it was: %v", err)
	}
	// The line ends the read that still waits for standard input.
	if _, err := master.WriteString("\n"); err != nil {
		t.Error(err)
	}
}
