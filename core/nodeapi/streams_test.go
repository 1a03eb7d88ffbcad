package nodeapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/test/fakestream"
)

// talking are containers of a runtime that streams at target. If target is nil, a call returns its
// description as an error.
type talking struct{ target *url.URL }

func (talking) LogPath(context.Context, string) (string, error) { return "", errors.New("no logs") }
func (talking) Runs(*v1.Pod, string) bool                       { return true }

func (c talking) to(format string, values ...any) (*url.URL, error) {
	if c.target == nil {
		return nil, fmt.Errorf(format, values...)
	}
	return c.target, nil
}

func (c talking) ExecURL(_ context.Context, id string, what *Exec) (*url.URL, error) {
	return c.to("exec %s %+v", id, *what)
}

func (c talking) AttachURL(_ context.Context, id string, what *Exec) (*url.URL, error) {
	return c.to("attach %s %+v", id, *what)
}

func (c talking) PortForwardURL(_ context.Context, p *v1.Pod, ports []int32) (*url.URL, error) {
	return c.to("forward %s %v", p.UID, ports)
}

type podsOnly []v1.Pod

func (p podsOnly) PodList() *v1.PodList { return &v1.PodList{Items: p} }

// streaming serves the streams of two pods, one of which has terminated, and returns the address.
func streaming(t *testing.T, c Containers) (address string) {
	t.Helper()
	of := func(name string, state v1.ContainerState) v1.ContainerStatus {
		return v1.ContainerStatus{Name: name, ContainerID: "fake://" + name, State: state}
	}
	running := v1.ContainerState{Running: &v1.ContainerStateRunning{}}
	s := &Streams{
		Pods: podsOnly{
			{
				ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u1"},
				Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "plain"}, {Name: "tty", TTY: true}, {Name: "ended"}}},
				Status: v1.PodStatus{Phase: v1.PodRunning, ContainerStatuses: []v1.ContainerStatus{
					of("plain", running), of("tty", running), of("ended", v1.ContainerState{Terminated: &v1.ContainerStateTerminated{}}),
				}},
			},
			{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "job", UID: "u2"}, Status: v1.PodStatus{Phase: v1.PodSucceeded}},
		},
		Containers: c, Logger: slog.New(slog.DiscardHandler), Now: time.Now,
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/exec/{namespace}/{pod}/{container}", s.Exec)
	mux.HandleFunc("/attach/{namespace}/{pod}/{container}", s.Attach)
	mux.HandleFunc("/portForward/{namespace}/{pod}", s.PortForward)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func TestStreams_askTheRuntime(t *testing.T) {
	t.Parallel()
	address := streaming(t, talking{})
	many := "/portForward/shop/web?port=" + strings.Repeat("1,", maxPorts) + "2"
	for name, test := range map[string]struct {
		path      string
		webSocket bool
		code      int
		text      string
	}{
		"a program":                  {"/exec/shop/web/plain?command=a&command=b&stdout=1&stderr=true", false, 500, "exec plain {Command:[a b] Stdin:false Stdout:true Stderr:true TTY:false}"},
		"attached to a plain one":    {"/attach/shop/web/plain?command=a&stdin=1&stdout=1&stderr=1&tty=1", false, 500, "attach plain {Command:[] Stdin:true Stdout:true Stderr:false TTY:false}"},
		"attached to a terminal":     {"/attach/shop/web/tty?stdout=1&stderr=1", false, 500, "attach tty {Command:[] Stdin:false Stdout:true Stderr:false TTY:true}"},
		"attached to nothing":        {"/attach/shop/web/plain", false, 400, "at least 1 of stdin, stdout, stderr"},
		"attached to one that ended": {"/attach/shop/web/ended?stdout=1", false, 400, `container "ended" of pod "web" does not run`},
		"attached to none":           {"/attach/shop/web/none?stdout=1", false, 404, "does not exist"},
		"a port in a stream":         {"/portForward/shop/web?port=none", false, 500, "forward u1 []"},
		"ports of a WebSocket":       {"/portForward/shop/web?port=80,81&port=443", true, 500, "forward u1 [80 81 443]"},
		"no port of a WebSocket":     {"/portForward/shop/web", true, 400, "port: missing"},
		"port 0":                     {"/portForward/shop/web?port=0", true, 400, `port: want a number between 1 and 65535, found "0"`},
		"a port that is none":        {"/portForward/shop/web?port=80,http", true, 400, `port: want a number between 1 and 65535, found "http"`},
		"a port that is too high":    {"/portForward/shop/web?port=65536", true, 400, `found "65536"`},
		"too many ports":             {many, true, 400, "want at most 64 ports"},
		"a port of a pod that ended": {"/portForward/shop/job", false, 400, `pod "job" has ended`},
		"a port of no pod":           {"/portForward/shop/db", false, 404, `pod "db" does not exist`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+test.path, http.NoBody)
			must(t, err)
			if test.webSocket {
				req.Header.Set("Connection", "Upgrade")
				req.Header.Set("Upgrade", "WebSocket")
			}
			answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
			must(t, err)
			defer answer.Body.Close()
			text, err := io.ReadAll(answer.Body)
			must(t, err)
			if answer.StatusCode != test.code || !strings.Contains(string(text), test.text) {
				t.Errorf("%d %s, want %d %s", answer.StatusCode, text, test.code, test.text)
			}
		})
	}
}

// TestStreams_bound opens as many connections as the limit permits. One more is refused until one
// of them has ended.
func TestStreams_bound(t *testing.T) {
	t.Parallel()
	runtime := httptest.NewServer(fakestream.Forward(func(_ string, conn io.ReadWriter) error {
		_, err := io.Copy(conn, conn)
		return err
	}))
	defer runtime.Close()
	target, err := url.Parse(runtime.URL)
	must(t, err)
	address := streaming(t, talking{target})
	open := func() (net.Conn, string) {
		conn, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
		must(t, err)
		_, err = io.WriteString(conn, "POST /portForward/shop/web HTTP/1.1\r\nHost: node\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: portforward.k8s.io\r\n\r\n")
		must(t, err)
		head := make([]byte, len("HTTP/1.1 101"))
		_, err = io.ReadFull(conn, head)
		must(t, err)
		return conn, string(head)
	}
	var all []net.Conn
	defer func() {
		for _, conn := range all {
			_ = conn.Close()
		}
	}()
	for range maxOpen {
		conn, head := open()
		if all = append(all, conn); head != "HTTP/1.1 101" {
			t.Fatalf("connection %d: %s", len(all), head)
		}
	}
	conn, head := open()
	if all = append(all, conn); head != "HTTP/1.1 503" {
		t.Errorf("one too many: %s", head)
	}
	must(t, all[0].Close())
	for end := time.Now().Add(10 * time.Second); head != "HTTP/1.1 101"; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after one has ended: %s", head)
		}
		conn, head = open()
		all = append(all, conn)
	}
}
