package rotate

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/logs"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// rig is a Rotator of one container's log, together with the container's runtime.
type rig struct {
	*Rotator
	t   *testing.T
	log string
	// fail, if not nil, is the error that the runtime returns. If opens is true, it first opens the
	// log.
	fail  error
	opens bool
	calls int

	mu     sync.Mutex
	events []string
}

func newRig(t *testing.T, size int64, files int) *rig {
	t.Helper()
	g := &rig{t: t, log: filepath.Join(t.TempDir(), "0.log")}
	pods := []status.ObservedPod{{
		UID: "u", Namespace: "shop", Name: "web",
		Sandboxes:  []status.ObservedSandbox{{Annotations: map[string]string{pod.AnnotationSource: "static"}}},
		Containers: []status.ObservedContainer{{ID: "c", Name: "main", State: status.StateRunning, LogPath: g.log}},
	}}
	g.Rotator = New(Config{
		Pods: func() []status.ObservedPod { return pods }, Reopen: g.reopenLog, Events: g,
		MaxSize: size, MaxFiles: files, Log: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	return g
}

func (g *rig) reopenLog(_ context.Context, id string) error {
	g.calls++
	if id != "c" {
		return fmt.Errorf("no container %s", id)
	}
	if g.fail != nil && !g.opens {
		return g.fail
	}
	g.write(g.log, "")
	return g.fail
}

// Event implements status.Recorder.
func (g *rig) Event(p *v1.Pod, eventType, reason, message string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.events = append(g.events, strings.Join([]string{p.Namespace, p.Name, p.Annotations[pod.AnnotationSource], eventType, reason, message}, " "))
}

// write adds text to a file.
func (g *rig) write(path, text string) {
	g.t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o640)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		g.t.Fatal(err)
	}
}

// files returns the texts of the files in the log's directory by name, uncompressed, and the sum of
// their sizes on the disk.
func (g *rig) files() (content map[string]string, size int64) {
	g.t.Helper()
	content = map[string]string{}
	entries, err := os.ReadDir(filepath.Dir(g.log))
	if err != nil {
		g.t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		text, onDisk, err := read(filepath.Join(filepath.Dir(g.log), e.Name()))
		if err != nil {
			g.t.Fatal(err)
		}
		size += onDisk
		content[e.Name()] = text
	}
	return content, size
}

// read returns the text of a file, uncompressed, and its size on the disk.
func read(path string) (text string, size int64, err error) {
	data, err := os.ReadFile(path)
	size = int64(len(data))
	if err == nil && strings.HasSuffix(path, logs.CompressedSuffix) {
		var r *gzip.Reader
		if r, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
			data, err = io.ReadAll(r)
		}
	}
	return string(data), size, err
}

func (g *rig) wantFiles(want map[string]string) {
	g.t.Helper()
	if got, _ := g.files(); fmt.Sprint(got) != fmt.Sprint(want) {
		g.t.Errorf("files %v, want %v", got, want)
	}
}

func (g *rig) wantEvents(want ...string) {
	g.t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, event := range g.events {
		if i >= len(want) || !strings.HasPrefix(event, "shop web static Warning FailedLogRotation Log of container main cannot be rotated: "+want[i]) {
			g.t.Errorf("event %q, want %q", event, want)
		}
	}
	if len(g.events) < len(want) {
		g.t.Errorf("events %q, want %q", g.events, want)
	}
	g.events = nil
}
