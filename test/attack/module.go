package attack

import (
	"cmp"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// Module is an attack.
type Module struct {
	// Name is the name of its source, without the suffix.
	Name string
	// What describes the module in a sentence or more.
	What string
	// Binary is the assembled module.
	Binary []byte
	// Refused is how loading it must fail, nil if loading must succeed.
	Refused *Expectation
	// Questions are asked in this order, repeatedly: a question must get the same answer every
	// time. It is empty if the module is refused.
	Questions []Question

	// named is the hook in the policy of a module that must be refused.
	named abi.Hook
	// pages, fuel and output are the limits of its policy. features are the features that wat2wasm
	// must enable. candidates is the number of documents in a question to the hook merge.
	pages      uint32
	fuel       int64
	output     int
	features   []string
	candidates int
}

// Question is a question to a module, and the expected result.
type Question struct {
	// Hook is the hook that is asked.
	Hook abi.Hook
	// Image is the image of the pod's one container, or of every candidate's.
	Image string
	Want  Expectation
}

// Expectation is the required result of loading a module or asking it.
type Expectation struct {
	// Code is the code of the failure, empty if there must be an answer. Answer is the hook's word,
	// for a winner with its index ("winner-1"), for a deferred update with the delay
	// ("defer-1m0s").
	Code   abi.FailureCode
	Answer string
	// Part must be in the failure's text, or in the answer's reason and message.
	Part string
}

// Now is the time of every question.
var Now = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

// ballastBytes is the length of the largest annotation of the pod: processing it costs the host,
// while the attacker only has to ask for it.
const ballastBytes = 64 << 10

// Fuel returns the fuel of a call of the module.
func (m *Module) Fuel() int64 { return m.fuel }

// hooks returns the hooks in a policy of the module.
func (m *Module) hooks() []string {
	var hooks []string
	for i := range m.Questions {
		if h := string(m.Questions[i].Hook); !slices.Contains(hooks, h) {
			hooks = append(hooks, h)
		}
	}
	if len(hooks) == 0 { // it must be refused
		hooks = []string{string(cmp.Or(m.named, abi.HookAdmit))}
	}
	return hooks
}

// Options returns the options to load the module for a policy of that name.
func (m *Module) Options(policy string) wasm.Options {
	return wasm.Options{
		Policy: policy, Hooks: m.hooks(), Settings: map[string]any{"greeting": "hello"},
		MemoryPages: m.pages, Fuel: m.fuel, OutputBytes: m.output, Node: "node-1",
	}
}

// judged returns a pod with one container of that image.
func judged(image string) *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: "web", Namespace: "default", UID: "8a1b", Annotations: map[string]string{"ballast": ballast},
	}}
	p.Spec.Containers = []v1.Container{{Name: "c", Image: image}}
	return p
}

// Request returns the question whether a pod with one container of that image may run.
func Request(image string) *abi.Request {
	return &abi.Request{Time: Now, Kind: "file", Question: &api.Question{
		Op: api.Add, Pod: judged(image), Origin: api.Origin{Source: "manifests", Document: "/m/web.yaml#0"},
	}}
}
