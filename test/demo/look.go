package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
)

// nameOf returns the agent's name for the pod of a manifest.
func nameOf(pod string) string { return pod + "-" + nodeName }

// expectation is the expected state of a pod.
type expectation struct {
	// pod is the pod's name in its manifest, image the image of its one container.
	pod, image string
	restarts   int32
	// container is the container that must still run; the zero value means any.
	container observed
}

// running checks with the agent, the runtime and the pod itself that a pod runs as expected, and
// returns its container.
func (t *tour) running(ctx context.Context, want expectation) (observed, v1.Pod, error) {
	pods, err := t.node.pods(ctx)
	if err != nil {
		return observed{}, v1.Pod{}, err
	}
	p, ok := pods[nameOf(want.pod)]
	if !ok {
		return observed{}, v1.Pod{}, fmt.Errorf("the agent knows no pod %s", nameOf(want.pod))
	}
	if err := ready(&p, want); err != nil {
		return observed{}, p, err
	}
	container, err := t.node.container(ctx, p.Status.ContainerStatuses[0])
	if err != nil {
		return observed{}, p, err
	}
	if want.container.id != "" && !same(container, want.container) {
		return observed{}, p, fmt.Errorf("container %s of process %d, want %s of process %d",
			container.short(), container.pid, want.container.short(), want.container.pid)
	}
	return container, p, answers(ctx, &p)
}

// same reports whether a and b are the same container in the same process since the same time.
func same(a, b observed) bool {
	return a.id == b.id && a.pid == b.pid && a.started.Equal(b.started)
}

// ready checks that a pod's status is that of a pod that runs as expected.
func ready(p *v1.Pod, want expectation) error {
	isReady := slices.ContainsFunc(p.Status.Conditions, func(c v1.PodCondition) bool {
		return c.Type == v1.PodReady && c.Status == v1.ConditionTrue
	})
	if p.Status.Phase != v1.PodRunning || !isReady || len(p.Status.ContainerStatuses) != 1 {
		return fmt.Errorf("pod %s is %s", p.Name, strings.Join(summary(p), ", "))
	}
	if image := p.Spec.Containers[0].Image; image != want.image {
		return fmt.Errorf("pod %s runs %s, want %s", p.Name, image, want.image)
	}
	if restarts := p.Status.ContainerStatuses[0].RestartCount; restarts != want.restarts {
		return fmt.Errorf("the container of pod %s was restarted %d times, want %d", p.Name, restarts, want.restarts)
	}
	return nil
}

// summary returns the important parts of a pod's status.
func summary(p *v1.Pod) []string {
	words := []string{string(p.Status.Phase)}
	for _, said := range []string{p.Status.Reason, p.Status.Message} {
		if said != "" {
			words = append(words, said)
		}
	}
	for _, c := range p.Status.Conditions {
		if c.Status != v1.ConditionTrue {
			words = append(words, fmt.Sprintf("%s is %s (%s %s)", c.Type, c.Status, c.Reason, c.Message))
		}
	}
	for _, c := range p.Status.ContainerStatuses {
		switch {
		case c.State.Waiting != nil:
			words = append(words, "container "+c.Name+" waits: "+c.State.Waiting.Reason+" "+c.State.Waiting.Message)
		case c.State.Terminated != nil:
			words = append(words, "container "+c.Name+" ended with "+strconv.Itoa(int(c.State.Terminated.ExitCode)))
		}
	}
	return words
}

// direct is an HTTP client without a proxy, because no proxy can reach pods.
var direct = &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

func urlOf(p *v1.Pod) string { return "http://" + p.Status.PodIP + ":8080/" }

func greeting(p *v1.Pod) string { return "hello from " + p.Name }

// answers checks that the pod greets with its own name over HTTP.
func answers(ctx context.Context, p *v1.Pod) error {
	if p.Status.PodIP == "" {
		return fmt.Errorf("pod %s has no address", p.Name)
	}
	return greets(ctx, urlOf(p), greeting(p))
}

func greets(ctx context.Context, url, want string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := direct.Do(request)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<10))
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return fmt.Errorf("get %s: %w", url, err)
	}
	if got := strings.TrimSuffix(string(body), "\n"); response.StatusCode != http.StatusOK || got != want {
		return fmt.Errorf("%s answers %s, %q; want %q", url, response.Status, got, want)
	}
	return nil
}
