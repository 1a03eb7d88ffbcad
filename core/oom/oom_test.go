package oom

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorder sends a line for each event.
type recorder chan string

func (r recorder) Event(p *v1.Pod, eventType, reason, message string) {
	r <- fmt.Sprintf("%s %s %s %s", p.Name, eventType, reason, message)
}

func (r recorder) ContainerEvent(p *v1.Pod, container, eventType, reason, message string) {
	r <- fmt.Sprintf("%s{%s} %s %s %s", p.Name, container, eventType, reason, message)
}

// newWatcher returns a watcher of a file. It knows the pod web with the containers main (c1) and
// side (c2), and cgroups of the form /pods/UID/...
func newWatcher(t *testing.T, path string, log *slog.Logger) (*Watcher, recorder, map[types.UID]*v1.Pod) {
	t.Helper()
	events := make(recorder, 100)
	pods := map[types.UID]*v1.Pod{"1": {ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "1"}}}
	w := New(Config{
		Path: path,
		Owner: func(cgroup string) (types.UID, string, bool) {
			rest, ok := strings.CutPrefix(cgroup, "/pods/")
			uid, below, _ := strings.Cut(rest, "/")
			return types.UID(uid), below, ok
		},
		Pod:       func(uid types.UID) *v1.Pod { return pods[uid] },
		Container: func(_ types.UID, id string) string { return map[string]string{"c1": "main", "c2": "side"}[id] },
		Events:    events,
		NodeEvent: func(eventType, reason, message string) {
			events <- fmt.Sprintf("node %s %s %s", eventType, reason, message)
		},
		Log: log,
	})
	return w, events, pods
}

// killed is a line of the kernel.
func killed(cgroup, limit string, pid int) string {
	of := ",oom_memcg=" + limit
	if limit == "" {
		of = ",global_oom"
	}
	return fmt.Sprintf("6,1,2,-;oom-kill:constraint=C,nodemask=(null),cpuset=/,mems_allowed=0%s,task_memcg=%s,task=sh,pid=%d,uid=0", of, cgroup, pid)
}

func TestWatcher(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "kmsg")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	var log bytes.Buffer
	w, events, pods := newWatcher(t, path, slog.New(slog.NewTextHandler(&log, nil)))
	ctx, cancel := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	ended.Go(func() { w.Run(ctx) })
	var got []string
	for _, step := range []struct {
		line   string
		events int
	}{
		{killed("/pods/1/c1", "/pods/1/c1", 11), 1},
		{killed("/pods/1/crio-c2", "/pods/1", 12), 1},
		{killed("/pods/1/c1", "/pods", 13), 1},
		{killed("/pods/1/c1/inner", "/pods/1/c1/inner", 14), 1},
		{killed("/pods/1/sandbox", "/pods/1", 15), 1},
		{killed("/pods/1/c1", "", 16), 2},
		{killed("/system.slice/db.service", "", 17), 1},
		{killed("/system.slice/db.service", "/system.slice/db.service", 18), 0},
		{killed("/pods/2/c", "/pods/2/c", 19), 0},
		{strings.Repeat("x", 3*maxLine), 0},
		{killed("/pods/1/cri-containerd-c1.scope", "/pods/1/cri-containerd-c1.scope", 20), 1},
	} {
		if _, err := pipe.WriteString(step.line + "\n SUBSYSTEM=x\n"); err != nil {
			t.Fatal(err)
		}
		for range step.events {
			select {
			case e := <-events:
				got = append(got, e)
			case <-time.After(20 * time.Second):
				t.Fatalf("no event about %q; so far %q", step.line, got)
			}
		}
	}
	cancel()
	ended.Wait()
	want := []string{
		"web{main} Warning OOMKilling Container main: the container has reached its memory limit, and the kernel killed process sh, pid: 11",
		"web{side} Warning OOMKilling Container side: the pod has reached its memory limit, and the kernel killed process sh, pid: 12",
		"web{main} Warning OOMKilling Container main: the memory for all pods is used up, and the kernel killed process sh, pid: 13",
		"web{main} Warning OOMKilling Container main: a cgroup of the pod has reached its memory limit, and the kernel killed process sh, pid: 14",
		"web Warning OOMKilling the pod has reached its memory limit, and the kernel killed process sh, pid: 15",
		"node Warning SystemOOM System OOM encountered, victim process: sh, pid: 16",
		"web{main} Warning OOMKilling Container main: the node is out of memory, and the kernel killed process sh, pid: 16",
		"node Warning SystemOOM System OOM encountered, victim process: sh, pid: 17",
		"web{main} Warning OOMKilling Container main: the container has reached its memory limit, and the kernel killed process sh, pid: 20",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	for _, part := range []string{"pid=18 cgroup=/system.slice/db.service", "pid=19 uid=2"} {
		if !strings.Contains(log.String(), part) {
			t.Errorf("the log has no %q:\n%s", part, log.String())
		}
	}
	counts := []Count{{Container{"shop", "web", "main"}, 5}, {Container{"shop", "web", "side"}, 1}}
	if diff := cmp.Diff(counts, w.Counts()); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	delete(pods, "1")
	if left := w.Counts(); len(left) > 0 {
		t.Errorf("counts of a pod that is gone: %v", left)
	}
}

func TestWatcher_unreadableLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, path := range map[string]string{"missing": filepath.Join(dir, "none"), "a directory": dir} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := make(chan string, 100)
			w, _, _ := newWatcher(t, path, slog.New(slog.NewTextHandler(writer(func(text string) { lines <- text }), nil)))
			ctx, cancel := context.WithCancel(t.Context())
			var ended sync.WaitGroup
			ended.Go(func() { w.Run(ctx) })
			select {
			case line := <-lines:
				if !strings.Contains(line, "run the agent as root, with CAP_SYSLOG") {
					t.Errorf("log %q", line)
				}
			case <-time.After(20 * time.Second):
				t.Error("nothing is logged")
			}
			cancel()
			ended.Wait()
			if len(lines) > 0 {
				t.Errorf("logged again: %q", <-lines)
			}
		})
	}
}

type writer func(string)

func (w writer) Write(p []byte) (int, error) {
	w(string(p))
	return len(p), nil
}
