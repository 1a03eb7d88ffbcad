package question

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

//go:embed pod.json
var podJSON []byte

// Pod returns a pod that the rule allows. It has three containers and one init container, and about
// 6455 bytes of JSON.
func Pod() (*v1.Pod, error) {
	var p v1.Pod
	if err := json.Unmarshal(podJSON, &p); err != nil {
		return nil, fmt.Errorf("question/pod.json: %w", err)
	}
	return &p, nil
}

// Request returns the question whether a pod may run.
func Request(p *v1.Pod) *abi.Request {
	return &abi.Request{
		Question:          &api.Question{Op: api.Add, Pod: p, Origin: api.Origin{Source: "api", Document: p.Namespace + "/" + p.Name}},
		Kind:              "api",
		Time:              time.Date(2026, time.November, 20, 10, 11, 13, 0, time.UTC),
		ClockSynchronized: true,
	}
}
