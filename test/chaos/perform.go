package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/test/harness"
)

// perform performs a step and returns details for the timeline. An error is a failure of the test
// itself.
func (r *run) perform(ctx context.Context, s *step) (detail string, err error) {
	switch s.Kind {
	case killAgent, endAgent, startAgent:
		return r.performOnAgent(s.Kind)
	case killRuntime:
		return "", r.node.Runtime.Kill(ctx)
	case resumeRuntime:
		return "", r.node.Runtime.Resume(ctx)
	case freezeRuntime:
		return "", r.node.Runtime.Freeze()
	case thawRuntime:
		return "", r.node.Runtime.Thaw()
	case killShim, killProcess, killSandbox, stopContainer:
		return r.performOnPod(ctx, s)
	case editPolicy:
		r.ledger.note(s, time.Now())
		return "", r.node.policies.allow(s.List)
	case breakPolicy:
		return "", r.node.policies.spoil()
	}
	return "", r.performOnManifest(s)
}

func (r *run) performOnAgent(k kind) (detail string, err error) {
	a := r.node.Process
	if crashed := a.Crashed(); crashed != nil {
		r.findings.add(found(time.Now(), "", "%v", crashed))
	}
	switch k {
	case killAgent:
		return fmt.Sprintf("process %d", a.PID()), r.node.kill()
	case endAgent:
		// The agent exits in its own time, while other steps are performed.
		return fmt.Sprintf("process %d", a.PID()), a.Signal(syscall.SIGTERM)
	}
	if err := gone(a); err != nil {
		r.findings.add(found(time.Now(), "", "%v", err))
	}
	if err := r.node.Start(); err != nil {
		return "", err
	}
	return fmt.Sprintf("process %d", r.node.Process.PID()), nil
}

func (r *run) performOnPod(ctx context.Context, s *step) (detail string, err error) {
	picked := r.witness.pick(s.Pod, s.Choice, s.Kind == killShim || s.Kind == killSandbox)
	if picked == nil {
		return "nothing of it runs", nil
	}
	detail = picked.String()
	switch s.Kind {
	case killShim:
		return detail, killShimOf(r.node.Runtime.Socket(), picked.id)
	case killProcess, killSandbox:
		return detail, killContainerProcesses(r.node.Cgroup(), picked.id)
	}
	// containerd may be frozen.
	r.calls.Go(func() {
		bounded, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		if _, err := r.node.Runtime.CRI.StopContainer(bounded, &criapi.StopContainerRequest{ContainerId: picked.id, Timeout: 1}); err != nil {
			r.timeline.add("(the call to stop %s ended with: %v)", picked, err)
		}
	})
	return detail, nil
}

// performOnManifest records the step in the ledger before it does anything, so that nothing happens
// before it is asked for.
func (r *run) performOnManifest(s *step) error {
	before := r.ledger.wish(s.Pod)
	text := before.shape.manifest(s.Pod, s.Version, s.Image)
	r.ledger.note(s, time.Now())
	file := r.node.Manifest(s.File)
	switch s.Kind {
	case editManifest:
		return harness.Replace(file, []byte(text))
	case rewriteManifest:
		return rewrite(file, text)
	case moveManifest:
		if err := harness.Replace(file, []byte(text)); err != nil {
			return err
		}
		if before.present() && before.file != s.File {
			return os.Remove(r.node.Manifest(before.file))
		}
		return nil
	case removeManifest:
		return os.Remove(file)
	case breakManifest:
		e := before.newest()
		return harness.Replace(file, []byte(broken(before.shape.manifest(s.Pod, e.version, e.image))))
	}
	return fmt.Errorf("there is no %q", s.Kind)
}

// halfTime is how long a file that is written in place stays half written. It is shorter than the
// time for which a file must be unchanged before the agent reads it.
const halfTime = 50 * time.Millisecond

// rewrite writes a file in place. The first half of the file is not a valid pod.
func rewrite(path, text string) (err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	const middle = "  containers:"
	first, second, _ := strings.Cut(text, middle)
	if _, err := file.WriteString(first); err != nil {
		return err
	}
	time.Sleep(halfTime)
	_, err = file.WriteString(middle + second)
	return err
}
