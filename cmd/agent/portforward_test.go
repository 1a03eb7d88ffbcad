package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/test/fakestream"
)

// listening imitates the servers in all pods: an echo server on port 80, and none on other ports.
func listening(port string, conn io.ReadWriter) error {
	if port != "80" {
		return errors.New("connection refused")
	}
	_, err := io.Copy(conn, conn)
	return err
}

// echoesBack sends a line to an address and expects it back.
func echoesBack(address string) error {
	conn, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "hello\n"); err != nil {
		return err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err == nil && line != "hello\n" {
		err = fmt.Errorf("read %q", line)
	}
	return err
}

// listensAt returns the first address in the output of a command that forwards ports.
func listensAt(out string) string {
	_, rest, _ := strings.Cut(out, "Forwarding from ")
	address, _, _ := strings.Cut(rest, " ")
	return address
}

func TestPortForward(t *testing.T) {
	t.Parallel()
	_, socket := writing(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var once sync.Once
	var address string
	got := wardletTelling(ctx, func(out string) {
		once.Do(func() {
			address = listensAt(out)
			go func() {
				defer cancel()
				for range 3 {
					if err := echoesBack(address); err != nil {
						t.Error(err)
					}
				}
			}()
		})
	}, "port-forward", "--socket", socket, "shop/shell", ":http", "--address", "127.0.0.1")
	_, port, _ := net.SplitHostPort(address)
	want := strings.ReplaceAll("Forwarding from 127.0.0.1:PORT -> 80\nHandling connection for PORT\nHandling connection for PORT\nHandling connection for PORT\n--- exit status 0\n", "PORT", port)
	if got != want {
		t.Errorf("printed:\n%s\nwant:\n%s", got, want)
	}
}

// If nothing listens on a port, only that connection fails. Later connections are tried again.
func TestPortForward_whereNothingListens(t *testing.T) {
	t.Parallel()
	_, socket := writing(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var once sync.Once
	got := wardletTelling(ctx, func(out string) {
		once.Do(func() {
			address := listensAt(out)
			go func() {
				defer cancel()
				for range 2 {
					if err := echoesBack(address); err == nil {
						t.Error("something answers")
					}
					time.Sleep(50 * time.Millisecond)
				}
			}()
		})
	}, "port-forward", "--socket", socket, "shop/web", "0:81", "--address=127.0.0.1")
	if n := strings.Count(got, "-> 81: error forwarding port 81 to pod: connection refused"); n < 1 || !strings.HasSuffix(got, "exit status 0\n") {
		t.Errorf("printed:\n%s", got)
	}
}

func TestPortForward_refused(t *testing.T) {
	t.Parallel()
	_, socket := writing(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() })
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	for name, args := range map[string][]string{
		"port-forward-no-pod":     {"shop/wep", "80"},
		"port-forward-no-name":    {"shop/shell", ":https"},
		"port-forward-zero":       {"shop/shell", "80:0"},
		"port-forward-local":      {"shop/shell", "web:80"},
		"port-forward-taken":      {"shop/shell", port + ":80", "--address", "127.0.0.1"},
		"port-forward-no-address": {"shop/shell", "80", "--address", "web.example"},
		"port-forward-no-port":    {"shop/shell"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name, wardlet(t.Context(), append([]string{"port-forward", "--socket", socket}, args...)...), socket, "SOCKET", port, "PORT")
		})
	}
}

// After a pod is gone, the first connection makes the command return.
func TestPortForward_endsWithThePod(t *testing.T) {
	t.Parallel()
	pods := []v1.Pod{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u1"}, Spec: v1.PodSpec{Containers: []v1.Container{{Name: "main"}}}}}
	socket, _ := serve(t, &knowledge{pods: [][]v1.Pod{pods, {}}, forward: http.NotFoundHandler()})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var once sync.Once
	got := wardletTelling(ctx, func(out string) {
		once.Do(func() {
			go func() { _ = echoesBack(listensAt(out)) }() // the output shows the result
		})
	}, "port-forward", "--socket", socket, "shop/web", ":80", "--address", "127.0.0.1")
	if !strings.Contains(got, "refused: nothing is known of a pod shop/web;") || !strings.HasSuffix(got, "--- exit status 1\n") {
		t.Errorf("printed:\n%s", got)
	}
}

// TestPortForward_bound opens more connections than are forwarded at a time. The others wait until
// some of them end.
func TestPortForward_bound(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int32
	pods := []v1.Pod{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u1"}, Spec: v1.PodSpec{Containers: []v1.Container{{Name: "main"}}}}}
	socket, _ := serve(t, &knowledge{pods: [][]v1.Pod{pods}, forward: fakestream.Forward(func(_ string, conn io.ReadWriter) error {
		n := now.Add(1)
		defer now.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			continue
		}
		_, err := io.Copy(conn, conn)
		return err
	})})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var once sync.Once
	got := wardletTelling(ctx, func(out string) {
		once.Do(func() {
			address := listensAt(out)
			go func() {
				defer cancel()
				for all := range 2 {
					var exchanges sync.WaitGroup
					for range maxForwarded + 40 {
						exchanges.Go(func() {
							if err := echoesBack(address); err != nil {
								t.Errorf("turn %d: %v", all, err)
							}
						})
					}
					exchanges.Wait()
				}
			}()
		})
	}, "port-forward", "--socket", socket, "shop/web", ":80", "--address", "127.0.0.1")
	if n := strings.Count(got, "Handling connection"); n != 2*(maxForwarded+40) || most.Load() > maxForwarded {
		t.Errorf("%d connections, %d of them at a time; want at most %d at a time; printed:\n%.300s", n, most.Load(), maxForwarded, got)
	}
}
