//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/api"
)

// exceeded returns an error unless the pod and all its containers have ended because of its
// deadline.
func exceeded(p *v1.Pod) error {
	st := &p.Status
	if st.Phase != v1.PodFailed || st.Reason != "DeadlineExceeded" || st.Message != "Pod was active on the node longer than the specified deadline" {
		return fmt.Errorf("phase %q, reason %q, message %q", st.Phase, st.Reason, st.Message)
	}
	for i := range st.ContainerStatuses {
		if st.ContainerStatuses[i].State.Terminated == nil {
			return fmt.Errorf("container %+v", st.ContainerStatuses[i].State)
		}
	}
	return nil
}

// endsOfDeadline waits until the pod has ended because of its deadline, and returns how
// long its container ran after the pod had started.
func (a *agent) endsOfDeadline(t *testing.T, name string) (v1.Pod, time.Duration) {
	t.Helper()
	var p v1.Pod
	promptly(t, "the pod's deadline ends it", func(ctx context.Context) error {
		pods, err := a.pods(ctx)
		if err != nil {
			return err
		}
		p = pods[name]
		return exceeded(&p)
	})
	return p, p.Status.ContainerStatuses[0].State.Terminated.FinishedAt.Sub(p.Status.StartTime.Time)
}

func TestAPodEndsWhenItsDeadlineComesAndStaysEnded(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "late")
	a.start(t)
	a.manifest(t, "job.yaml", hostPod("job", "sleep")+"  activeDeadlineSeconds: 5\n")
	a.manifest(t, "web.yaml", hostPod("web", "sleep"))
	a.running(t, "job", "web")
	p, ran := a.endsOfDeadline(t, "job-late")
	// The times in a status are whole seconds.
	if ran < 4*time.Second || ran > 9*time.Second {
		t.Errorf("it ran for %s, want 5 s and what its end took", ran)
	}
	var events []api.Event
	if err := a.API.Get(t.Context(), "/v1/events", &events); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(events, func(e api.Event) bool {
		return e.Name == "job-late" && e.Reason == "DeadlineExceeded" && e.Type == v1.EventTypeNormal && e.Count == 1
	}) {
		t.Errorf("no event says so: %+v", events)
	}

	// Neither a restart nor a runtime that has lost everything starts the pod again.
	a.kill()
	n.wipe(t)
	a.start(t)
	a.settled(t)
	a.running(t, "web")
	steadily(t, 3*time.Second, "the pod stays ended", func(ctx context.Context) error {
		pods, err := a.pods(ctx)
		if err != nil {
			return err
		}
		now := pods["job-late"]
		if err := exceeded(&now); err != nil {
			return err
		}
		if container(now) != container(p) {
			return errors.New("another container was made")
		}
		return nil
	})
	a.remove(t, "job.yaml", "web.yaml")
	a.nothingLeft(t, n)
}

func TestAnEditOfAPodThatHasEndedDoesNotStartItWithTheNextAgent(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "edit")
	a.start(t)
	job := strings.Replace(hostPod("job", "sleep"), "metadata:\n", "metadata:\n  uid: 6a2c8f0e-1d37-4c57-9b0e-5f7f3a9d2c11\n", 1) + "  activeDeadlineSeconds: 3\n"
	a.manifest(t, "job.yaml", job)
	p, _ := a.endsOfDeadline(t, "job-edit")
	a.manifest(t, "job.yaml", strings.Replace(job, "metadata:\n", "metadata:\n  labels: {tier: b}\n", 1))
	eventually(t, "the edit is taken in", func(ctx context.Context) error {
		pods, err := a.pods(ctx)
		if now := pods["job-edit"]; err == nil && now.Labels["tier"] != "b" {
			err = fmt.Errorf("labels %v", now.Labels)
		}
		return err
	})
	for range 2 {
		a.kill()
		a.start(t)
		a.settled(t)
		steadily(t, 3*time.Second, "the pod stays ended", func(ctx context.Context) error {
			pods, err := a.pods(ctx)
			if err != nil {
				return err
			}
			now := pods["job-edit"]
			if err := exceeded(&now); err != nil {
				return err
			}
			if container(now) != container(p) {
				return errors.New("another container was made")
			}
			return nil
		})
	}
	a.remove(t, "job.yaml")
	a.nothingLeft(t, n)
	a.manifest(t, "job.yaml", job)
	a.running(t, "job") // a new pod
	a.remove(t, "job.yaml")
	a.nothingLeft(t, n)
}

func TestADeadlineGoesOnWhileNoAgentRuns(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "gone")
	a.start(t)
	a.manifest(t, "job.yaml", hostPod("job", "sleep")+"  activeDeadlineSeconds: 12\n")
	a.manifest(t, "web.yaml", hostPod("web", "sleep"))
	pods := a.running(t, "job", "web")
	before, web := pods["job"], pods["web"]
	a.kill()
	_, id, _ := strings.Cut(container(before), "://")
	steadily(t, 5*time.Second, "the container runs while no agent does", func(ctx context.Context) error {
		answer, err := n.CRI.ContainerStatus(ctx, &criapi.ContainerStatusRequest{ContainerId: id})
		if err == nil && answer.GetStatus().GetState() != criapi.ContainerState_CONTAINER_RUNNING {
			err = fmt.Errorf("it is %s", answer.GetStatus().GetState())
		}
		return err
	})
	a.start(t)
	pods = a.running(t, "job", "web")
	after := pods["job"]
	times := func(p *v1.Pod) (all []time.Time) {
		for _, c := range p.Status.Conditions {
			all = append(all, c.LastTransitionTime.Time)
		}
		return all
	}
	now := pods["web"]
	if !now.Status.StartTime.After(web.Status.StartTime.Time) {
		t.Errorf("the pod without a deadline started at %s, and after the restart of the agent at %s", web.Status.StartTime, now.Status.StartTime)
	}
	// A time may be earlier than before: it is now the runtime's time, not the later one at which a
	// busy agent saw the change.
	for i, at := range times(&now) {
		if was := times(&web)[i]; at.Sub(was) > 2*time.Second || at.Before(web.Status.StartTime.Time) {
			t.Errorf("time %d of the pod without a deadline was %s and is %s", i, was, at)
		}
	}
	if !after.Status.StartTime.Equal(before.Status.StartTime) || container(after) != container(before) {
		t.Errorf("started at %s, then at %s; container %s, then %s", before.Status.StartTime, after.Status.StartTime, container(before), container(after))
	}
	if _, ran := a.endsOfDeadline(t, "job-gone"); ran < 11*time.Second || ran > 16*time.Second {
		t.Errorf("it ran for %s, want 12 s and what its end took", ran)
	}
	a.remove(t, "job.yaml", "web.yaml")
	a.nothingLeft(t, n)
}
