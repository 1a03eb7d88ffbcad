//go:build e2e

package kubectl

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal returns both ends of a pseudo terminal.
func terminal(t *testing.T) (near, far *os.File) {
	t.Helper()
	near, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close() })
	n, err := unix.IoctlGetInt(int(near.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(near.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(near.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 33, Col: 77})
	}
	if err == nil {
		far, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { far.Close() })
	return near, far
}

// session types lines into the terminal of a kubectl command, each as soon as the screen shows a
// text. It returns the screen once the command has exited or the script is at its end. An empty
// line kills the agent.
func (s *space) session(script [][2]string, args ...string) string {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
	defer cancel()
	near, far := terminal(s.T)
	cmd := cluster.Command(ctx, append([]string{"-n", s.name}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = far, far, far
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	var ended sync.WaitGroup
	ended.Go(func() {
		_ = cmd.Wait() // its connection may have been cut
		far.Close()    // reading at the near end fails now
	})
	defer ended.Wait()
	var screen bytes.Buffer
	buffer := make([]byte, 4096)
	for {
		n, err := near.Read(buffer)
		screen.Write(buffer[:n])
		for len(script) > 0 && strings.Contains(screen.String(), script[0][0]) {
			text := script[0][1]
			if script = script[1:]; text == "" {
				s.kill()
			} else if _, err := io.WriteString(near, text+"\n"); err != nil {
				s.Fatal(err)
			}
		}
		if err != nil {
			return screen.String()
		}
	}
}

func TestAttach(t *testing.T) {
	s := newSpace(t)
	shell := func(name, more string) string {
		return fmt.Sprintf("---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec:\n  terminationGracePeriodSeconds: 1\n  restartPolicy: Never\n"+
			"  containers:\n  - {name: main, image: %q, command: [sh], stdin: true, %s}\n", name, busybox, more)
	}
	s.apply(shell("shell", "tty: true") + shell("plain", "stdinOnce: true") +
		pod("talks", busybox, "i=0; while [ $i -lt 300 ]; do echo $i; i=$((i+1)); sleep 0.1; done"))
	s.kubectl("wait", "--for=condition=Ready", "pod/shell", "pod/plain", "pod/talks", "--timeout=60s")

	// kubectl does not notice that its terminal session is cut with the agent. The second session goes
	// on in the same shell. kubectl first sends another size, so that programs draw their screen again.
	screen := s.session([][2]string{{"press", "mark=one; until stty size | grep -q '33 7[7]'; do sleep 0.1; done; stty size; echo $mark$((1+1))"}, {"one2", ""}}, "attach", "-it", "shell")
	if !strings.Contains(screen, "33 77") {
		t.Errorf("the terminal has another size than 33 77: %q", screen)
	}
	s.eventually("the agent knows the pod again", func() error {
		_, err := s.try("", "exec", "shell", "--", "true")
		return err
	})
	if screen = s.session([][2]string{{"press", "echo again$mark; exit"}}, "attach", "-it", "shell"); !strings.Contains(screen, "againone") {
		t.Errorf("after the restart of the agent: %q", screen)
	}
	s.kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/shell", "--timeout=60s")
	if _, err := s.try("", "attach", "shell"); err == nil {
		t.Error("attached to a pod that has ended")
	}

	// A program that reads until the end of its input reaches it when kubectl's input ends.
	out, err := s.try("echo got it\n", "attach", "-i", "-q", "plain")
	if err != nil || out != "got it\n" {
		t.Errorf("with input: %q, %v", out, err)
	}
	s.kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/plain", "--timeout=60s")

	// If a pod terminates, sessions that are attached to it end.
	cmd := cluster.Command(t.Context(), "attach", "talks", "-n", s.name)
	lines, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	scanner := bufio.NewScanner(lines)
	if !scanner.Scan() {
		t.Error("nothing is written")
	}
	s.kubectl("delete", "pod", "talks", "--wait=false")
	for scanner.Scan() {
		continue // further output does not matter
	}
	_ = cmd.Wait() // it may report that its connection was cut
}

// forward runs kubectl port-forward and returns the address on which it listens. end stops it and
// returns everything that it printed.
func (s *space) forward(ports ...string) (address string, end func() string) {
	s.Helper()
	ctx, cancel := context.WithCancel(s.Context())
	cmd := cluster.Command(ctx, append([]string{"-n", s.name, "port-forward", "--address=127.0.0.1"}, ports...)...)
	var complains bytes.Buffer
	cmd.Stderr = &complains
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		cancel()
		s.Fatalf("kubectl port-forward: %v: %s", cmd.Wait(), complains.String())
	}
	_, rest, _ := strings.Cut(lines.Text(), "Forwarding from ")
	address, _, _ = strings.Cut(rest, " ")
	var printed bytes.Buffer
	var reading sync.WaitGroup
	reading.Go(func() {
		for lines.Scan() {
			fmt.Fprintln(&printed, lines.Text())
		}
	})
	end = sync.OnceValue(func() string {
		cancel()
		reading.Wait()
		_ = cmd.Wait() // it was killed, unless it had exited
		return printed.String() + complains.String()
	})
	s.Cleanup(func() { end() })
	return address, end
}

// exchange sends a text to an address and returns the answer.
func exchange(address, text string) (string, error) { return send(address, text, false) }

// send sends a text to an address and returns the answer. With last it then closes its side of the
// connection. containerd forwards only a part of an answer that takes longer than a second after
// that.
func send(address, text string, last bool) (string, error) {
	conn, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		return "", err
	}
	if _, err := io.WriteString(conn, text); err != nil {
		return "", err
	}
	if tcp, ok := conn.(*net.TCPConn); ok && last {
		_ = tcp.CloseWrite() // the answer comes nevertheless
	}
	answer, err := io.ReadAll(conn)
	return string(answer), err
}

func TestPortForward(t *testing.T) {
	s := newSpace(t)
	s.apply(pod("web", busybox, "mkdir /w; echo served >/w/index.html; cat /dev/zero | head -c 5000000 >/w/big; exec httpd -f -p 8080 -h /w"))
	s.kubectl("wait", "--for=condition=Ready", "pod/web", "--timeout=60s")
	s.eventually("the server runs", func() error { // an earlier connection would end kubectl
		_, err := s.try("", "exec", "web", "--", "wget", "-q", "-O", "-", "http://127.0.0.1:8080/")
		return err
	})
	const request = "GET / HTTP/1.0\r\n\r\n"
	address, _ := s.forward("pod/web", ":8080")
	for _, last := range []bool{false, true} {
		if got, err := send(address, request, last); err != nil || !strings.HasSuffix(got, "served\n") {
			t.Fatalf("the pod answers %q, %v", got, err)
		}
	}
	// Many connections at once, one of which is never read.
	idle, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	var exchanges sync.WaitGroup
	failures := make(chan error, 50)
	for range 50 {
		exchanges.Go(func() {
			got, err := exchange(address, "GET /big HTTP/1.0\r\n\r\n")
			if err == nil && len(got) < 5_000_000 {
				err = fmt.Errorf("only %d bytes", len(got))
			}
			failures <- err
		})
	}
	exchanges.Wait()
	close(failures)
	for err := range failures {
		if err != nil {
			t.Error(err)
		}
	}

	_, end := s.forward("pod/web", ":8081")
	refused, end2 := s.forward("pod/web", ":8082")
	if got, err := exchange(refused, request); err == nil && got != "" {
		t.Errorf("where nothing listens something answers: %q", got)
	}
	end()
	s.eventually("kubectl has said so", func() error { // it exits by itself
		if got, err := exchange(refused, request); err == nil {
			return fmt.Errorf("it still listens, and answers %q", got)
		}
		return nil
	})
	if said := end2(); !strings.Contains(said, "onnection refused") && !strings.Contains(said, "lost connection") {
		t.Errorf("kubectl says of a port where nothing listens: %q", said)
	}

	s.kill()
	s.eventually("the agent forwards again", func() error {
		_, err := s.try("", "exec", "web", "--", "true")
		return err
	})
	again, _ := s.forward("pod/web", ":8080")
	if got, err := exchange(again, request); err != nil || !strings.HasSuffix(got, "served\n") {
		t.Errorf("after the restart of the agent: %q, %v", got, err)
	}
	s.kubectl("delete", "pod", "web")
	if got, err := exchange(again, request); err == nil && strings.HasSuffix(got, "served\n") {
		t.Error("a pod that is gone answers")
	}
	if _, err := s.try("", "port-forward", "pod/web", ":8080"); err == nil {
		t.Error("ports of a pod that is gone are forwarded")
	} else if ended, ok := errors.AsType[*exec.ExitError](err); !ok || ended.ExitCode() != 1 {
		t.Error(err)
	}
}
