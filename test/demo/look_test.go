package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
)

// runningPod returns a pod in the expected state.
func runningPod() *v1.Pod {
	p := &v1.Pod{}
	p.Name = nameOf(web)
	p.Spec.Containers = []v1.Container{{Image: webImage}}
	p.Status = v1.PodStatus{
		Phase:             v1.PodRunning,
		Conditions:        []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionTrue}},
		ContainerStatuses: []v1.ContainerStatus{{Name: web, RestartCount: 1}},
	}
	return p
}

func TestReady(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(p *v1.Pod)
		// want is a part of the error; empty for no error.
		want string
	}{
		"as expected": {func(*v1.Pod) {}, ""},
		"denied": {func(p *v1.Pod) {
			p.Status = v1.PodStatus{Phase: v1.PodFailed, Reason: "ImageNotAllowed", Message: "no"}
		}, "pod web-edge is Failed, ImageNotAllowed, no"},
		"not ready": {func(p *v1.Pod) {
			p.Status.Conditions[0] = v1.PodCondition{Type: v1.PodReady, Status: v1.ConditionFalse, Reason: "ContainersNotReady"}
		}, "Ready is False (ContainersNotReady )"},
		"its container waits": {func(p *v1.Pod) {
			p.Status.Phase = v1.PodPending
			p.Status.ContainerStatuses[0].State.Waiting = &v1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "gone"}
		}, "container web waits: ErrImagePull gone"},
		"its container ended": {func(p *v1.Pod) {
			p.Status.Phase = v1.PodFailed
			p.Status.ContainerStatuses[0].State.Terminated = &v1.ContainerStateTerminated{ExitCode: 137}
		}, "container web ended with 137"},
		"no container is reported": {func(p *v1.Pod) { p.Status.ContainerStatuses = nil }, "pod web-edge is Running"},
		"of another image":         {func(p *v1.Pod) { p.Spec.Containers[0].Image = forbiddenImage }, "runs " + forbiddenImage},
		"restarted too often":      {func(p *v1.Pod) { p.Status.ContainerStatuses[0].RestartCount = 2 }, "restarted 2 times, want 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := runningPod()
			test.change(p)
			err := ready(p, expectation{pod: web, image: webImage, restarts: 1})
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want %q in it", err, test.want)
			}
		})
	}
}

func TestGreets(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/broken" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		fmt.Fprintln(w, "hello from web-edge")
	}))
	defer server.Close()
	if err := greets(t.Context(), server.URL+"/", "hello from web-edge"); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{
		"another greeting":     greets(t.Context(), server.URL+"/", "hello from other-edge"),
		"a status that is not": greets(t.Context(), server.URL+"/broken", "hello from web-edge"),
		"nobody is there":      greets(t.Context(), "http://127.0.0.1:1/", "hello from web-edge"),
		"a pod of no address":  answers(t.Context(), runningPod()),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestAContainerIsTheSameInTheSameProcessOnly(t *testing.T) {
	t.Parallel()
	now := time.Now()
	c := observed{id: "a", pid: 7, started: now}
	if !same(c, observed{id: "a", pid: 7, started: now.Round(0)}) {
		t.Error("a container is not itself")
	}
	for _, other := range []observed{
		{id: "b", pid: 7, started: now}, {id: "a", pid: 8, started: now}, {id: "a", pid: 7, started: now.Add(1)},
	} {
		if same(c, other) {
			t.Errorf("%+v is the same as %+v", other, c)
		}
	}
}
