package policytest

import (
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// SomePod returns a pod from the source "static".
func SomePod(name string, change ...func(*v1.Pod)) *v1.Pod {
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "shop", UID: types.UID("uid-" + name), Labels: map[string]string{"tier": "web"},
			Annotations: map[string]string{pod.AnnotationSource: "static"},
		},
		Spec: v1.PodSpec{Containers: []v1.Container{{Name: "c", Image: "img"}}},
	}
	for _, f := range change {
		f(p)
	}
	return p
}

// Question returns a question whether a new pod of the source "static" may run.
func Question(name string, change ...func(*api.Question)) api.Question {
	q := api.Question{Op: api.Add, Pod: SomePod(name), Origin: api.Origin{Source: "static", Document: name + ".yaml#0"}}
	for _, f := range change {
		f(&q)
	}
	return q
}

// Instant is the time of tests that need a fixed one.
var Instant = time.Date(2026, time.November, 3, 12, 0, 0, 0, time.UTC)

// Request returns a request about a question from a file, at a fixed time.
func Request(q api.Question) *abi.Request {
	return &abi.Request{Question: &q, Kind: "file", Time: Instant}
}
