package server

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestLasting_socketThatWasRemovedIsMadeAgain(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(socket string) error{
		"the file":      os.Remove,
		"its directory": func(socket string) error { return os.RemoveAll(filepath.Dir(socket)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket := filepath.Join(filepath.Dir(socketPath(t)), "run", "s")
			l, err := Listen(socket)
			if err != nil {
				t.Fatal(err)
			}
			l = lasting(l, socket, slog.New(slog.DiscardHandler), time.Millisecond)
			accepted := make(chan error, 1)
			go func() {
				for {
					conn, err := l.Accept()
					if err != nil {
						accepted <- err
						return
					}
					conn.Close()
				}
			}()
			if err := remove(socket); err != nil {
				t.Fatal(err)
			}
			deadline := time.Now().Add(10 * time.Second)
			for {
				conn, err := new(net.Dialer).DialContext(t.Context(), "unix", socket)
				if err == nil {
					conn.Close()
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("no socket was made: %v", err)
				}
			}
			info, err := os.Lstat(socket)
			if err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("the socket is %v, %v", info, err)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			if err := <-accepted; !errors.Is(err, net.ErrClosed) {
				t.Errorf("Accept ended with %v", err)
			}
			if _, err := os.Lstat(socket); !os.IsNotExist(err) {
				t.Errorf("the socket stays when it is closed: %v", err)
			}
		})
	}
}
