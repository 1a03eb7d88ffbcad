//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// talkingPod has one container that has written output and exited, and one that runs.
const talkingPod = `apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  hostNetwork: true
  terminationGracePeriodSeconds: 2
  restartPolicy: Never
  containers:
  - name: main
    image: registry.example/web:1
    args: [sleep]
  - name: talks
    image: registry.example/web:1
    args: [echo, "one\ntwo\nthree"]
`

func TestLogsAndProgramsOfAStaticPodNeedNoCluster(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "solo")
	a.start(t)
	a.manifest(t, "web.yaml", talkingPod)
	eventually(t, "the log is written", func(context.Context) error {
		text, err := a.wardlet("logs", "default/web", "-c", "talks", "-f")
		if err != nil || text != "one\ntwo\nthree\n" {
			return fmt.Errorf("printed %q: %w", text, err)
		}
		return nil
	})
	for line, want := range map[string]string{
		"logs default/web-solo talks --tail 1":                    "three\n",
		"logs -n default web -c main":                             "",
		"exec default/web -c main -- /testbox echo hello -update": "hello -update\n",
	} {
		if text, err := a.wardlet(strings.Fields(line)...); err != nil || text != want {
			t.Errorf("%s: %q, %v", line, text, err)
		}
	}
	for line, want := range map[string]int{
		"exec default/web -c main -- /testbox exit -code 7": 7,
		"exec default/web -c main -- /nothing":              1,
		"exec default/web -c talks -- /testbox echo hello":  1,
		"exec default/web -- ":                              2,
		"logs default/wep":                                  1,
		"logs default/web -c talks --previous":              1,
	} {
		_, err := a.wardlet(strings.Fields(line)...)
		ended, ok := errors.AsType[*exec.ExitError](err)
		if !ok || ended.ExitCode() != want {
			t.Errorf("%s: %v, want exit status %d", line, err, want)
		}
	}
	piped := a.Command(t.Context(), "exec", "-i", "default/web", "-c", "main", "--", "/testbox", "echo", "done")
	piped.Stdin = strings.NewReader("not read\n")
	if text, err := piped.Output(); err != nil || string(text) != "done\n" {
		t.Errorf("with standard input: %q, %v", text, err)
	}
	a.remove(t, "web.yaml")
	a.nothingLeft(t, n)
	a.stop(t)
}

// servingPod listens on a port of the machine.
const servingPod = `apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  hostNetwork: true
  terminationGracePeriodSeconds: 2
  containers:
  - name: main
    image: registry.example/web:1
    args: [serve, -port, "PORT", -message, served]
    ports: [{name: http, containerPort: PORT, hostPort: PORT}]
`

func TestForwardedPortsAndAttachedClientsEndWithTheirPod(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "solo")
	a.start(t)
	probe, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(probe.Addr().String())
	if err := probe.Close(); err != nil {
		t.Fatal(err)
	}
	a.manifest(t, "web.yaml", strings.ReplaceAll(servingPod, "PORT", port))
	eventually(t, "the pod serves", func(ctx context.Context) error { return served(ctx, "127.0.0.1:"+port) })

	forward := a.Command(t.Context(), "port-forward", "default/web", ":http", "--address", "127.0.0.1")
	out, err := forward.StdoutPipe()
	if err == nil {
		err = forward.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	_, rest, _ := strings.Cut(line, "Forwarding from ")
	address, _, _ := strings.Cut(rest, " ")
	if err != nil || !strings.HasSuffix(line, " -> "+port+"\n") {
		t.Fatalf("printed %q, %v", line, err)
	}
	for range 3 {
		if err := served(t.Context(), address); err != nil {
			t.Error(err)
		}
	}
	attached := a.Command(t.Context(), "attach", "default/web")
	if err := attached.Start(); err != nil {
		t.Fatal(err)
	}
	a.kill() // ends attached sessions; the forwarder goes on with the next agent
	if err := attached.Wait(); err == nil {
		t.Error("what was attached has ended well though the agent was killed")
	}
	a.start(t)
	eventually(t, "the ports are forwarded again", func(ctx context.Context) error { return served(ctx, address) })
	eventually(t, "the agent knows that the container runs", func(context.Context) error {
		_, err := a.wardlet("exec", "default/web", "--", "/testbox", "echo")
		return err
	})
	attached = a.Command(t.Context(), "attach", "default/web")
	var screen bytes.Buffer
	attached.Stdout, attached.Stderr = &screen, &screen
	if err := attached.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second) // until the session is attached
	a.remove(t, "web.yaml")
	if err := attached.Wait(); err != nil || screen.String() != "received terminated\n" {
		t.Errorf("what was attached to the pod that ended: %v: %s", err, screen.String())
	}
	a.nothingLeft(t, n)
	if err := served(t.Context(), address); err == nil {
		t.Error("a pod that is gone answers")
	}
	ended, ok := errors.AsType[*exec.ExitError](forward.Wait())
	if !ok || ended.ExitCode() != 1 {
		t.Errorf("the forwarder has ended with %v", ended)
	}
	a.stop(t)
}

// served gets the page of servingPod from an address.
func served(ctx context.Context, address string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/", http.NoBody)
	if err != nil {
		return err
	}
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || !strings.Contains(string(text), "served") {
		return fmt.Errorf("it answers %q: %w", text, err)
	}
	return nil
}
