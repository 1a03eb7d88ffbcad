package filesystem

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRead(t *testing.T) {
	t.Parallel()
	s, err := Read(t.TempDir())
	if err != nil || s.Capacity <= 0 || s.Free < s.Available || s.Capacity < s.Free || s.Used() != s.Capacity-s.Free || s.FreeInodes > s.Inodes {
		t.Errorf("%+v, %v", s, err)
	}
	if other, err := Read("/proc"); err != nil || other.Device == s.Device || other.Capacity != 0 {
		t.Errorf("/proc: %+v, %v", other, err)
	}
	if _, err := Read(filepath.Join(t.TempDir(), "gone")); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("a path that does not exist: %v", err)
	}
}

func TestReader_Of_aFileSystemThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reads atomic.Int32
		answers := make(chan struct{})
		r := &Reader{ReadFunc: func(path string) (State, error) {
			if path == "hangs" {
				reads.Add(1)
				<-answers
			}
			return State{Capacity: int64(len(path))}, nil
		}}
		began := time.Now()
		for range 3 {
			if _, err := r.Of(t.Context(), "hangs"); err == nil || !strings.Contains(err.Error(), "does not answer") {
				t.Error(err)
			}
		}
		if took := time.Since(began); took != 3*Timeout || reads.Load() != 1 {
			t.Errorf("three calls took %s, with %d reads", took, reads.Load())
		}
		if s, err := r.Of(t.Context(), "other"); err != nil || s.Capacity != 5 {
			t.Errorf("another file system: %+v, %v", s, err)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if _, err := r.Of(ended, "hangs"); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		close(answers)
		if s, err := r.Of(t.Context(), "hangs"); err != nil || s.Capacity != 5 {
			t.Errorf("after the answer: %+v, %v", s, err)
		}
		synctest.Wait()
		if _, err := r.Of(t.Context(), "hangs"); err != nil || reads.Load() != 2 {
			t.Errorf("%d reads, %v", reads.Load(), err)
		}
	})
}
