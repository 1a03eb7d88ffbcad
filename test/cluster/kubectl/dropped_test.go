//go:build e2e

package kubectl

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"

	"github.com/wardlet/wardlet/test/cluster/network"
	"github.com/wardlet/wardlet/test/harness"
)

var dropped = flag.Int("dropped", 60, "how many sessions are opened and dropped")

// TestStreams_droppedLeakNothing opens sessions of logs, exec and port-forward at the node itself,
// and cuts their connections in the middle. Afterwards the agent has no more open files than before,
// and no program of an exec is left.
func TestStreams_droppedLeakNothing(t *testing.T) {
	s := newSpace(t)
	s.apply(`
apiVersion: v1
kind: Pod
metadata: {name: busy}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: main
    image: ` + busybox + `
    command: [sh, -c, "nc -lk -p 8080 -e cat & while :; do echo line; sleep 0.2; done"]
`)
	s.kubectl("wait", "--for=condition=Ready", "pod/busy", "--timeout=60s")
	key := func(name string) string { return filepath.Join(cluster.Dir, "k8s", name) }
	config := &rest.Config{
		Host: "https://" + cluster.Env["NODE_IP"] + ":10250",
		TLSClientConfig: rest.TLSClientConfig{
			CertFile: key("kubelet-client.crt"), KeyFile: key("kubelet-client.key"), CAFile: key("ca.crt"),
		},
	}
	sessions := []func(context.Context, *rest.Config, string) error{openLog, openExec, openForward}
	open := func(n int) {
		var running sync.WaitGroup
		places := make(chan struct{}, 20)
		for i := range n {
			places <- struct{}{}
			running.Go(func() {
				defer func() { <-places }()
				if err := drop(t.Context(), config, s.name, sessions[i%len(sessions)]); err != nil {
					t.Errorf("session %d: %v", i, err)
				}
			})
		}
		running.Wait()
	}
	open(2 * len(sessions)) // what the agent keeps for further sessions is there now
	time.Sleep(2 * time.Second)
	files, tasks := s.openFiles(), s.programs()
	memory := s.memory()
	open(*dropped)
	began := time.Now()
	s.eventually("everything is closed", func() error {
		if err := s.noMoreThan(files); err != nil {
			return err
		}
		if now := s.programs(); now > tasks {
			return fmt.Errorf("the container has %d processes, had %d", now, tasks)
		}
		return nil
	})
	t.Logf("%d sessions: everything is closed after %s; memory %d KiB, was %d KiB; %d open files, %d processes",
		*dropped, time.Since(began).Round(time.Millisecond), s.memory(), memory, files, tasks)
}

// drop opens a session through a network of its own, and cuts that.
func drop(ctx context.Context, config *rest.Config, namespace string, open func(context.Context, *rest.Config, string) error) error {
	wire, err := network.New(strings.TrimPrefix(config.Host, "https://"))
	if err != nil {
		return err
	}
	defer wire.Close()
	own := rest.CopyConfig(config)
	own.Host = wire.URL()
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, cutKey{}, wire.Cut), time.Minute)
	defer cancel()
	return open(ctx, own, namespace)
}

// cutKey is the key of a context's function that cuts the connection of a session.
type cutKey struct{}

func cutNow(ctx context.Context) { ctx.Value(cutKey{}).(func())() }

// openLog follows a log, and leaves after the first line.
func openLog(ctx context.Context, config *rest.Config, namespace string) error {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+"/containerLogs/"+namespace+"/busy/main?follow=true", nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = answer.Body.Read(make([]byte, 4))
	cutNow(ctx)
	return err
}

// cutter cuts the connection when the first byte arrives.
type cutter struct {
	ctx context.Context
	got chan struct{}
	cut sync.Once
}

func (c *cutter) Write(p []byte) (int, error) {
	c.cut.Do(func() { close(c.got); cutNow(c.ctx) })
	return len(p), nil
}

// openExec starts a program that never ends by itself, and leaves after its first output.
func openExec(ctx context.Context, config *rest.Config, namespace string) error {
	target, err := url.Parse(config.Host + "/exec/" + namespace + "/busy/main?input=1&output=1&command=sh&command=-c&command=" + url.QueryEscape("echo here; exec cat"))
	if err != nil {
		return err
	}
	executor, err := remotecommand.NewSPDYExecutor(config, http.MethodPost, target)
	if err != nil {
		return err
	}
	in, _ := io.Pipe()
	out := &cutter{ctx: ctx, got: make(chan struct{})}
	err = executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: in, Stdout: out})
	select {
	case <-out.got:
		return nil
	default:
		return fmt.Errorf("no output: %w", err)
	}
}

// openForward forwards a port, and leaves after an echo.
func openForward(ctx context.Context, config *rest.Config, namespace string) error {
	transport, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		return err
	}
	target, err := url.Parse(config.Host + "/portForward/" + namespace + "/busy")
	if err != nil {
		return err
	}
	stop, ready := make(chan struct{}), make(chan struct{})
	forwarder, err := portforward.New(spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, target), []string{"0:8080"}, stop, ready, io.Discard, io.Discard)
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	var failed error
	go func() {
		defer close(ended)
		failed = forwarder.ForwardPorts()
	}()
	select {
	case <-ready:
	case <-ended:
		return failed
	}
	defer func() { close(stop); <-ended }()
	ports, err := forwarder.GetPorts()
	if err != nil {
		return err
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", ports[0].Local))
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "echo"); err != nil {
		return err
	}
	_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	_, err = io.ReadFull(conn, make([]byte, 4))
	cutNow(ctx)
	return err
}

// openFiles returns the number of open files of the agent, without the logs that it reads now and
// then.
func (s *space) openFiles() int {
	s.Helper()
	pid, err := cluster.NodePID()
	if err != nil {
		s.Fatal(err)
	}
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		s.Fatal(err)
	}
	kinds := sets.New("socket", "pipe", "anon_inode")
	n := 0
	for _, e := range entries {
		to, _ := os.Readlink(filepath.Join(dir, e.Name()))
		if kind, _, _ := strings.Cut(to, ":"); kinds.Has(kind) || strings.Contains(to, "/busy/") || strings.Contains(to, "_busy_") {
			n++
		}
	}
	return n
}

// noMoreThan returns an error if the agent has more open files.
func (s *space) noMoreThan(files int) error {
	if now := s.openFiles(); now > files {
		return fmt.Errorf("the agent has %d open files, had %d", now, files)
	}
	return nil
}

// memory returns the resident memory of the agent in KiB.
func (s *space) memory() int {
	s.Helper()
	pid, err := cluster.NodePID()
	text, failed := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err := errors.Join(err, failed); err != nil {
		s.Fatal(err)
	}
	resident, err := harness.Kilobytes(string(text), "VmRSS")
	if err != nil {
		s.Fatal(err)
	}
	return int(resident >> 10)
}

// programs returns the number of processes of the container but for the sleep that comes and goes.
func (s *space) programs() int {
	s.Helper()
	out := s.kubectl("exec", "busy", "--", "ps")
	n := 0
	for line := range strings.Lines(out) {
		if !strings.Contains(line, "sleep") && !strings.Contains(line, "ps") {
			n++
		}
	}
	return n
}
