package stats

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestPeer(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "peer") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	p, now := peer{}, time.Unix(1000, 0)
	for _, step := range []struct {
		name  string
		do    func() error
		after time.Duration
		want  int
	}{
		{"nothing listens", func() error { return nil }, 0, 0},
		{"it has just begun to listen", func() error {
			l, err := net.Listen("unix", socket)
			if err == nil {
				t.Cleanup(func() { l.Close() })
			}
			return err
		}, time.Second, 0},
		{"a minute later", func() error { return nil }, peerAgain, os.Getpid()},
		{"it is gone", func() error { return os.Remove(socket) }, time.Second, os.Getpid()},
		{"a minute later", func() error { return nil }, peerAgain, 0},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		now = now.Add(step.after)
		if got := p.process(socket, now); got != step.want {
			t.Errorf("%s: %d, want %d", step.name, got, step.want)
		}
	}
	if got := p.process("", now); got != 0 {
		t.Errorf("without a socket: %d", got)
	}
}
