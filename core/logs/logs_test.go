package logs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const sample = "2026-01-02T03:04:05.000000001Z stdout F one\n" +
	"2026-01-02T03:04:06Z stderr F two\n" +
	"2026-01-02T03:04:07Z stdout P thr\n" +
	"2026-01-02T03:04:07Z stdout F ee\n" +
	"nonsense\n" +
	"2026-01-02T03:04:08Z stdout F \n" +
	"2026-01-02T03:04:09+02:00 stdout F:x last"

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "0.log")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCopy(t *testing.T) {
	t.Parallel()
	path := write(t, sample)
	for name, test := range map[string]struct {
		options Options
		want    string
		stderr  string
	}{
		"all":           {Options{Tail: -1, Limit: -1}, "one\nthree\n\nlast", "two\n"},
		"with times":    {Options{Tail: -1, Limit: -1, Timestamps: true, Since: time.Date(2026, 1, 2, 3, 4, 8, 0, time.UTC)}, "2026-01-02T03:04:08.000000000Z \n", ""},
		"since":         {Options{Tail: -1, Limit: -1, Since: time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC)}, "three\n\n", "two\n"},
		"the last ones": {Options{Tail: 4, Limit: -1}, "ee\n\nlast", ""},
		"more than all": {Options{Tail: 100, Limit: -1}, "one\nthree\n\nlast", "two\n"},
		"none":          {Options{Tail: 0, Limit: -1}, "", ""},
		"some bytes":    {Options{Tail: -1, Limit: 9}, "one\nt", "two\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out, err bytes.Buffer
			if e := Copy(t.Context(), path, test.options, Output{&out, &err}, nil); e != nil {
				t.Fatal(e)
			}
			if out.String() != test.want || err.String() != test.stderr {
				t.Errorf("got %q and %q, want %q and %q", out.String(), err.String(), test.want, test.stderr)
			}
		})
	}
	if err := Copy(t.Context(), path+".none", Options{}, Output{}, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a log that is not there: %v", err)
	}
}

// A line that is longer than a block is copied whole, and nothing of it is kept.
func TestCopy_longLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3*blockSize+17)
	path := write(t, "2026-01-02T03:04:05Z stdout F "+long+"\n2026-01-02T03:04:06Z stdout F b\n")
	for tail, want := range map[int64]string{-1: long + "\nb\n", 2: long + "\nb\n", 1: "b\n"} {
		var out bytes.Buffer
		if err := Copy(t.Context(), path, Options{Tail: tail, Limit: -1}, Output{Stdout: &out}, nil); err != nil || out.String() != want {
			t.Errorf("the last %d: %d bytes, %v; want %d", tail, out.Len(), err, len(want))
		}
	}
}

// safeBuffer can be read while it is written.
type safeBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func TestCopy_follow(t *testing.T) {
	t.Parallel()
	path := write(t, "2026-01-02T03:04:05Z stdout F one\n")
	var out safeBuffer
	var mu sync.Mutex
	runs := true
	ended := make(chan error, 1)
	go func() {
		ended <- Copy(t.Context(), path, Options{Tail: -1, Limit: -1, Follow: true}, Output{Stdout: &out}, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return runs
		})
	}()
	await := func(want string) {
		t.Helper()
		for deadline := time.Now().Add(10 * time.Second); out.String() != want; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("got %q, want %q", out.String(), want)
			}
		}
	}
	put := func(path, text string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
		if err == nil {
			_, err = f.WriteString(text)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	await("one\n")
	put(path, "2026-01-02T03:04:06Z std") // a line that is written in two parts
	put(path, "out F two\n")
	await("one\ntwo\n")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	put(path+".1", "2026-01-02T03:04:07Z stdout F three\n")
	put(path, "2026-01-02T03:04:08Z stdout F four\n")
	await("one\ntwo\nthree\nfour\n")
	mu.Lock()
	put(path, "2026-01-02T03:04:09Z stdout F five\n")
	runs = false
	mu.Unlock()
	if err := <-ended; err != nil || out.String() != "one\ntwo\nthree\nfour\nfive\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Copy(ctx, path, Options{Tail: 0, Limit: -1, Follow: true}, Output{Stdout: &out}, func() bool { return true }); err != nil {
		t.Errorf("a copy that is ended: %v", err)
	}
}

func FuzzCopy(f *testing.F) {
	f.Add([]byte(sample), int64(3), int64(20))
	f.Fuzz(func(t *testing.T, text []byte, tail, limit int64) {
		path := write(t, string(text))
		var out bytes.Buffer
		if err := Copy(t.Context(), path, Options{Tail: tail, Limit: max(limit, -1), Timestamps: true}, Output{&out, &out}, nil); err != nil {
			t.Fatal(err)
		}
		if limit >= 0 && int64(out.Len()) > limit {
			t.Error(fmt.Sprint(out.Len(), " bytes, at most ", limit))
		}
	})
}

// Many followers of a long log allocate only their buffers, even if the log begins with 10 GiB
// without a line end.
func TestCopy_longLogManyReaders(t *testing.T) { // not parallel: the test measures allocations
	path := filepath.Join(t.TempDir(), "0.log")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	const length = 10 << 30 // sparse: the file occupies no disk space
	if _, err := file.WriteAt([]byte("\n2026-01-02T03:04:05Z stdout F one\n2026-01-02T03:04:05Z stdout F two\n"), length); err != nil {
		t.Fatal(err)
	}
	const readers = 50
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	var outputs [readers]lockedBuffer
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range readers {
		all.Go(func() {
			out := Output{Stdout: &outputs[i]}
			if err := Copy(ctx, path, Options{Follow: true, Tail: 2, Limit: -1}, out, func() bool { return true }); err != nil {
				t.Error(err)
			}
		})
	}
	defer func() { cancel(); all.Wait() }()
	wait := func(want string) {
		t.Helper()
		for i := range readers {
			for end := time.Now().Add(20 * time.Second); outputs[i].String() != want; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("reader %d has %q, want %q", i, outputs[i].String(), want)
				}
			}
		}
	}
	wait("one\ntwo\n")
	if _, err := file.Seek(0, io.SeekEnd); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(file, "2026-01-02T03:04:06Z stdout F three\n"); err != nil {
		t.Fatal(err)
	}
	wait("one\ntwo\nthree\n")
	runtime.ReadMemStats(&after)
	// Two blocks each, and what the test itself needs.
	if grown := after.TotalAlloc - before.TotalAlloc; grown > readers*4*blockSize+8<<20 {
		t.Errorf("%d readers took %d bytes", readers, grown)
	}
}

// lockedBuffer is a buffer for several goroutines.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
