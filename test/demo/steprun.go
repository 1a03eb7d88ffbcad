package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/test/harness"
)

func (t *tour) startAgent(ctx context.Context) error {
	if err := t.node.StartRuntime(ctx); err != nil {
		return err
	}
	t.showCommand("run")
	if err := t.node.Start(); err != nil {
		return err
	}
	var shown string
	err := observe(ctx, "the policy is in force", func(ctx context.Context) error {
		out, err := t.node.Wardlet(ctx, "get", "policies")
		if err != nil {
			return err
		}
		shown, err = pickPolicy(out)
		return err
	})
	if err != nil {
		return err
	}
	t.showCommand("get", "policies")
	t.out.output(shown)
	return nil
}

// pickPolicy returns the note in a table of policies that says that the set is in force. The table
// must have a line for the one policy.
func pickPolicy(table string) (string, error) {
	lines := strings.Split(strings.TrimSpace(table), "\n")
	row := slices.IndexFunc(lines, func(line string) bool {
		fields := strings.Fields(line)
		return len(fields) > 3 && fields[0] == harness.Policy && fields[3] == "enforce"
	})
	note := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, " in force, generation ") })
	if row < 0 || note < 0 {
		return "", fmt.Errorf("policy %s is not in force in\n%s", harness.Policy, strings.Join(lines, "\n"))
	}
	return lines[note], nil
}

func (t *tour) runPod(ctx context.Context) error {
	if err := t.drop(web, webImage); err != nil {
		return err
	}
	var err error
	t.web, err = t.showRunning(ctx, expectation{pod: web, image: webImage})
	return err
}

// drop prints that it writes a manifest, and writes it.
func (t *tour) drop(pod, image string) error {
	t.out.act("%s: image %s", t.node.Path("manifests", pod+".yaml"), image)
	return t.node.drop(pod, image)
}

// showRunning waits until a pod runs as expected and shows it.
func (t *tour) showRunning(ctx context.Context, want expectation) (observed, error) {
	container, p, err := t.whenRunning(ctx, want)
	if err != nil {
		return container, err
	}
	restarts := strconv.Itoa(int(want.restarts))
	if err := t.showPods(ctx, row{pod: want.pod, status: "Running", restarts: restarts}); err != nil {
		return container, err
	}
	t.showAnswer(&p, "from container "+container.short())
	return container, nil
}

func (t *tour) whenRunning(ctx context.Context, want expectation) (container observed, p v1.Pod, err error) {
	err = observe(ctx, "pod "+nameOf(want.pod)+" runs", func(ctx context.Context) error {
		container, p, err = t.running(ctx, want)
		return err
	})
	return container, p, err
}
