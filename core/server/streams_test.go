package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/server/client"
	"github.com/wardlet/wardlet/test/fakestream"
)

// streaming runs a server with pods that have a container "main". The handlers serve their logs and
// programs.
func streaming(t *testing.T, logs, exec http.Handler, pods ...v1.Pod) (c *client.Client, socket string, stop func() error) {
	t.Helper()
	for i := range pods {
		pods[i].Spec.Containers = []v1.Container{{Name: "main"}}
		pods[i].Spec.InitContainers = []v1.Container{{Name: "setup"}}
	}
	k := known{pods: func() *v1.PodList { return &v1.PodList{Items: pods} }}
	socket = socketPath(t)
	l, err := Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	stop = serve(t, New(Options{
		Pods: k, Sources: k, Events: k, Version: api.NewVersion("v1.2.3"), Logger: slog.New(slog.DiscardHandler), Node: "edge", Logs: logs, Exec: exec,
	}), l)
	return client.New(socket), socket, stop
}

func shopPod(name string, uid types.UID) v1.Pod {
	return v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: uid}}
}

// named writes the names of the container that is requested.
func named(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, "%s %s %s", r.PathValue("pod"), r.PathValue("uid"), r.PathValue("container"))
}

func TestLogs_findThePodByEitherName(t *testing.T) {
	t.Parallel()
	ending := shopPod("web", "old")
	ending.DeletionTimestamp = new(metav1.Now())
	c, socket, _ := streaming(t, http.HandlerFunc(named), nil, ending, shopPod("web", "new"), shopPod("web-edge", "static"), shopPod("db-edge", "db"))
	for path, want := range map[string]string{
		"/v1/logs/shop/web/main":      "web new main",
		"/v1/logs/shop/web-edge/main": "web-edge static main",
		"/v1/logs/shop/db/setup":      "db-edge db setup",
		"/v1/logs/shop/db-edge/main":  "db-edge db main",
		"/v1/logs/shop/dbb/main":      "the agent at SOCKET refused: nothing is known of a pod shop/dbb; did you mean shop/db or shop/web?",
		"/v1/logs/other/db/main":      "the agent at SOCKET refused: nothing is known of a pod other/db; did you mean shop/db-edge or shop/db?",
		"/v1/logs/shop/db/man":        `the agent at SOCKET refused: pod shop/db-edge has no container "man"; it has setup, main`,
		"/v1/exec/shop/db/main":       "the agent at SOCKET refused: this agent does not know GET /v1/exec/shop/db/main",
	} {
		var out strings.Builder
		if err := c.Copy(t.Context(), path, &out); err != nil {
			out.WriteString(strings.ReplaceAll(err.Error(), socket, "SOCKET"))
		}
		if out.String() != want {
			t.Errorf("%s:\n%s\nwant:\n%s", path, out.String(), want)
		}
	}
	var p v1.Pod
	if err := c.Get(t.Context(), "/v1/pods/shop/db", &p); err != nil || p.Name != "db-edge" || p.Kind != "Pod" {
		t.Errorf("pod: %v, %+v", err, p.ObjectMeta)
	}
	if err := c.Get(t.Context(), "/v1/pods/shop/none", &p); err == nil || !strings.Contains(err.Error(), "nothing is known of a pod shop/none") {
		t.Errorf("no such pod: %v", err)
	}
}

// A followed log breaks off when the server stops, so that the container does not seem to have
// terminated. A client that does not read does not delay the stop.
func TestLogs_breakOffWhenTheServerEnds(t *testing.T) {
	t.Parallel()
	for name, serve := range map[string]http.HandlerFunc{
		"one that waits": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "one\n")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
		"one that is not read": func(w http.ResponseWriter, _ *http.Request) {
			for line := bytes.Repeat([]byte("x"), 1<<16); ; {
				if _, err := w.Write(line); err != nil {
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _, stop := streaming(t, serve, nil, shopPod("web", "u"))
			got := make(chan struct{})
			w := &gate{written: got, open: make(chan struct{})}
			failed := make(chan error, 1)
			go func() { failed <- c.Copy(t.Context(), "/v1/logs/shop/web/main", w) }()
			<-got
			begun := time.Now()
			if err := stop(); err != nil || time.Since(begun) > 5*time.Second {
				t.Errorf("after %s: %v", time.Since(begun), err)
			}
			close(w.open)
			if err := <-failed; err == nil || !strings.Contains(err.Error(), "closed the connection") {
				t.Errorf("the client: %v", err)
			}
		})
	}
}

// gate is a writer that reports its first write and blocks until it is opened.
type gate struct{ written, open chan struct{} }

func (g *gate) Write(p []byte) (int, error) {
	if g.written != nil {
		close(g.written)
		g.written = nil
	}
	<-g.open
	return len(p), nil
}

func TestExec_breaksOffWhenTheServerEnds(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	runtime := httptest.NewServer(fakestream.Program(func(_ []string, s *fakestream.Streams) (int, error) {
		fmt.Fprint(s.Stdout, "begun")
		_, err := io.ReadAll(s.Stdin)
		return 0, errors.Join(err, errors.New("broken off"))
	}))
	defer runtime.Close()
	target, err := url.Parse(runtime.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: &http.Transport{DisableKeepAlives: true},
	}
	c, _, stop := streaming(t, nil, proxy, shopPod("web", "u"))
	out := &gate{written: begun, open: make(chan struct{})}
	close(out.open)
	in, write := io.Pipe()
	defer write.Close()
	failed := make(chan error, 1)
	go func() {
		_, err := c.Exec(context.WithoutCancel(t.Context()), "/v1/exec/shop/web/main?stdin=true&stdout=true", &client.Program{Stdin: in, Stdout: out})
		failed <- err
	}()
	<-begun
	if err := stop(); err != nil {
		t.Error(err)
	}
	if err := <-failed; err == nil || !strings.Contains(err.Error(), "closed the connection before the program has ended") {
		t.Errorf("the client: %v", err)
	}
}

func TestUserOf_isThePeerOfTheSocket(t *testing.T) {
	t.Parallel()
	_, socket, _ := streaming(t, http.NotFoundHandler(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, groups := UserOf(r)
		fmt.Fprintf(w, "%s %q", name, groups)
	}), shopPod("web", "u1"))
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	answer, err := c.Get("http://agent/v1/exec/shop/web/main")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	want := `root []`
	if uid := os.Geteuid(); uid != 0 {
		want = fmt.Sprintf("uid:%d []", uid)
	}
	if err != nil || string(text) != want {
		t.Errorf("user %q, error %v, want %q", text, err, want)
	}
	if name, groups := UserOf(httptest.NewRequest(http.MethodGet, "/", http.NoBody)); name != "" || groups != nil {
		t.Errorf("without a peer: %q %q", name, groups)
	}
}
