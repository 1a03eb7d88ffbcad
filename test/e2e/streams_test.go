//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// talkingPod has one that has written and ended, and one that runs.
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
