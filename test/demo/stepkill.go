package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
)

func (t *tour) killContainer(ctx context.Context) error {
	if _, _, err := t.running(ctx, t.webAsItWas(0)); err != nil {
		return err
	}
	killed := t.web
	t.out.act("SIGKILL to process %d of container %s", killed.pid, killed.short())
	if err := syscall.Kill(killed.pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill process %d: %w", killed.pid, err)
	}
	var err error
	if t.web, err = t.showRunning(ctx, expectation{pod: web, image: webImage, restarts: 1}); err != nil {
		return err
	}
	if t.web.id == killed.id {
		return fmt.Errorf("the pod runs in container %s again, which was killed", killed.short())
	}
	return nil
}

func (t *tour) killAgent(ctx context.Context) error {
	_, p, err := t.running(ctx, t.webAsItWas(1))
	if err != nil {
		return err
	}
	killed := t.node.Process.PID()
	if err := t.node.Kill(); err != nil {
		return err
	}
	if err := answers(ctx, &p); err != nil {
		return fmt.Errorf("without an agent: %w", err)
	}
	t.out.act("SIGKILL to process %d, the agent's; GET %s is answered without it", killed, urlOf(&p))
	t.showCommand("run")
	if err := t.node.Start(); err != nil {
		return err
	}
	otherAsItWas := expectation{pod: other, image: otherImage, container: t.other}
	for _, want := range []expectation{t.webAsItWas(1), otherAsItWas} {
		if _, _, err := t.whenRunning(ctx, want); err != nil {
			return err
		}
	}
	if err := observe(ctx, "the new version is still denied", t.updateDenied); err != nil {
		return err
	}
	err = remains(ctx, "pods after the agent's restart", func(ctx context.Context) error {
		var first error
		_, p, first = t.running(ctx, t.webAsItWas(1))
		_, _, second := t.running(ctx, otherAsItWas)
		return errors.Join(first, second)
	})
	if err != nil {
		return err
	}
	if err := t.showPods(ctx, row{pod: web, status: "Running", restarts: "1"}); err != nil {
		return err
	}
	t.showAnswer(&p, "from container "+t.web.short()+" as before")
	return nil
}
