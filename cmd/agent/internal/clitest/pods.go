package clitest

import (
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// Edit changes a pod of a fixture.
type Edit func(*v1.Pod)

// Pod returns a pod with one container that has run for an hour.
func Pod(namespace, name string, edits ...Edit) v1.Pod {
	p := v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, UID: types.UID("uid-" + name),
			Annotations: map[string]string{pod.AnnotationSource: "static"},
		},
		Spec: v1.PodSpec{Containers: []v1.Container{{
			Name: "main", Image: "box", Env: []v1.EnvVar{{Name: "PASSWORD", Value: "secret"}},
		}}},
		Status: v1.PodStatus{
			Phase: v1.PodRunning, PodIP: "10.0.0.7", QOSClass: v1.PodQOSBurstable,
			StartTime: &metav1.Time{Time: Noon.Add(-time.Hour)},
			ContainerStatuses: []v1.ContainerStatus{{
				Name: "main", Ready: true, State: v1.ContainerState{Running: &v1.ContainerStateRunning{}},
			}},
		},
	}
	for _, e := range edits {
		e(&p)
	}
	return p
}

// Unready makes the readiness probe of a pod fail.
func Unready(p *v1.Pod) {
	p.Spec.Containers[0].ReadinessProbe = &v1.Probe{PeriodSeconds: 10, ProbeHandler: v1.ProbeHandler{Exec: &v1.ExecAction{Command: []string{"true"}}}}
	p.Status.ContainerStatuses[0].Ready = false
	p.Status.ContainerStatuses[0].State.Running.StartedAt = metav1.NewTime(Noon.Add(-time.Hour))
}

// Unhealthy returns an event about the container main of a pod.
func Unhealthy(p *v1.Pod, message string) api.Event {
	return api.Event{
		First: Noon.Add(-time.Minute), Last: Noon.Add(-10 * time.Second), Count: 6, Type: v1.EventTypeWarning, Reason: "Unhealthy", Message: message,
		Namespace: p.Namespace, Name: p.Name, UID: p.UID, FieldPath: "spec.containers{main}",
	}
}

// Rejected returns an edit that makes a pod a rejected one.
func Rejected(reason, message string) Edit {
	return func(p *v1.Pod) {
		p.Status = v1.PodStatus{Phase: v1.PodFailed, Reason: reason, Message: "Pod was rejected: " + message}
	}
}

// Waiting returns a waiting version of p. If runs is false, no version of p runs.
func Waiting(p v1.Pod, answer api.Answer, message string, runs bool, retryIn time.Duration) api.Waiting {
	w := api.Waiting{
		Pod: &p, Origin: api.Origin{Source: "static", Document: "/etc/wardlet/manifests/" + p.Name + ".yaml#0", Version: "v1"},
		Verdict: api.Verdict{Answer: answer, Reason: "Because", Message: message},
	}
	if retryIn != 0 {
		w.RetryAt = Noon.Add(retryIn)
	}
	if runs {
		w.Running = new(p)
		w.Pod.UID += "-new"
	}
	return w
}
