package rotate

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/logs"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

var (
	writing = flag.Duration("writing", 3*time.Second, "for how long TestRotator_aHundredLogs writes")
	rate    = flag.Int("rate", 50_000, "bytes that TestRotator_aHundredLogs writes to each log in a second")
)

// writer writes the log of a container, as a runtime does.
type writer struct {
	path string
	// lines is the number of lines that are written.
	lines int

	mu   sync.Mutex
	file *os.File
}

func (w *writer) reopen() error {
	file, err := os.OpenFile(w.path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o640)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	old := w.file
	w.file = file
	if old == nil {
		return nil
	}
	return old.Close()
}

// write writes numbered lines until ctx ends, at a rate in bytes a second.
func (w *writer) write(ctx context.Context, rate int) error {
	const batch = 50 * time.Millisecond
	tick := time.NewTicker(batch)
	defer tick.Stop()
	filler := strings.Repeat("x", 100)
	for written := 0; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		for until := written + rate/int(time.Second/batch); written < until; w.lines++ {
			line := fmt.Sprintf("2000-01-01T00:00:00.%09dZ stdout F %d %s\n", w.lines, w.lines, filler)
			w.mu.Lock()
			_, err := w.file.WriteString(line)
			w.mu.Unlock()
			if err != nil {
				return err
			}
			written += len(line)
		}
	}
}

// TestRotator_aHundredLogs: a hundred logs are rotated while they grow, and no line is lost or torn.
func TestRotator_aHundredLogs(t *testing.T) {
	t.Parallel()
	const many, every = 100, 4 // files per log
	dir := t.TempDir()
	size := int64(*rate) * int64(max(*writing, time.Second)/time.Second) / every
	all := map[string]*writer{}
	p := status.ObservedPod{UID: "u", Namespace: "shop", Name: "web", Sandboxes: []status.ObservedSandbox{{Annotations: map[string]string{pod.AnnotationSource: "static"}}}}
	for i := range many {
		id := fmt.Sprintf("c%02d", i)
		w := &writer{path: filepath.Join(dir, id, "0.log")}
		if err := errors.Join(os.Mkdir(filepath.Dir(w.path), 0o700), w.reopen()); err != nil {
			t.Fatal(err)
		}
		all[id] = w
		p.Containers = append(p.Containers, status.ObservedContainer{ID: id, Name: id, State: status.StateRunning, LogPath: w.path})
	}
	events := &rig{t: t}
	r := New(Config{
		Pods: func() []status.ObservedPod { return []status.ObservedPod{p} }, Reopen: func(_ context.Context, id string) error { return all[id].reopen() },
		Events: events, MaxSize: size, MaxFiles: 1000, Log: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	rotating, stop := context.WithCancel(t.Context())
	var rotator, writers sync.WaitGroup
	rotator.Go(func() { r.Run(rotating) })
	ctx, cancel := context.WithTimeout(t.Context(), *writing)
	defer cancel()
	for id, w := range all {
		writers.Go(func() {
			if err := w.write(ctx, *rate); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		})
	}
	writers.Wait()
	stop()
	rotator.Wait()
	for id, w := range all {
		if err := errors.Join(w.file.Close(), check(filepath.Dir(w.path), w.lines)); err != nil || w.lines == 0 {
			t.Errorf("%s of %d lines: %v", id, w.lines, err)
		}
	}
	rotated, err := filepath.Glob(filepath.Join(dir, "*", "0.log.*"))
	if err != nil || len(rotated) < many {
		t.Errorf("%d rotated files, %v", len(rotated), err)
	}
	t.Logf("%d logs at %d bytes a second for %s: %d rotated files", many, *rate, *writing, len(rotated))
	events.wantEvents()
}

// check reads all files of a log, the oldest first, and compares their lines with those written.
func check(dir string, lines int) error {
	paths, err := filepath.Glob(filepath.Join(dir, "0.log*"))
	if err != nil {
		return err
	}
	slices.SortFunc(paths, func(a, b string) int { // the newest has the shortest name
		if filepath.Base(a) == "0.log" || filepath.Base(b) == "0.log" {
			return len(b) - len(a)
		}
		return strings.Compare(strings.TrimSuffix(a, logs.CompressedSuffix), strings.TrimSuffix(b, logs.CompressedSuffix))
	})
	next := 0
	for _, path := range paths {
		text, _, err := read(path)
		if err != nil {
			return err
		}
		for scan := bufio.NewScanner(strings.NewReader(text)); scan.Scan(); next++ {
			fields := strings.Fields(scan.Text())
			if len(fields) != 5 || fields[3] != strconv.Itoa(next) {
				return fmt.Errorf("line %d is %q in %s", next, scan.Text(), filepath.Base(path))
			}
		}
	}
	if next != lines {
		return fmt.Errorf("%d lines", next)
	}
	return nil
}
