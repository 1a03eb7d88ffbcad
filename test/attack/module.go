package attack

import (
	"cmp"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// Module is an attack.
type Module struct {
	// Name is that of its source, without the ending.
	Name string
	// What it does, in a sentence or more.
	What string
	// Binary is the module.
	Binary []byte
	// Refused is how it must be refused when it is loaded, nil where it must
	// not be.
	Refused *Expectation
	// Questions are to be asked in this order, again and again: a question must
	// get the same answer every time. Empty where the module is refused.
	Questions []Question

	// named is the hook that the policy of a module names which must be refused.
	named wasm.Hook
	// pages, fuel and output are limits of its policy, features what wat2wasm
	// must know to assemble it, candidates how many documents the hook merge is
	// asked about.
	pages      uint32
	fuel       int64
	output     int
	features   []string
	candidates int
}

// Question is what a module is asked, and what must come of it.
type Question struct {
	// Hook is the one that is asked.
	Hook wasm.Hook
	// Image is that of the pod's one container, or of every candidate's.
	Image string
	Want  Expectation
}

// Expectation is how loading a module or asking it must end.
type Expectation struct {
	// Code is that of the failure, empty where there must be an answer. Answer is
	// the hook's word, of a winner with its place ("winner-1"), of an update that
	// is deferred with the time ("defer-1m0s").
	Code   wasm.FailureCode
	Answer string
	// Part must be in the failure's text, or in the answer's reason and message.
	Part string
}

// Now is the time of every question.
var Now = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

// ballastBytes is how long the largest annotation of the judged pod is: what
// the host does with it costs the host, and the attacker only asks for it.
const ballastBytes = 64 << 10

// Fuel is what a call of the module may take.
func (m *Module) Fuel() int64 { return m.fuel }

// hooks are those that a policy of the module names.
func (m *Module) hooks() []string {
	var hooks []string
	for i := range m.Questions {
		if h := string(m.Questions[i].Hook); !slices.Contains(hooks, h) {
			hooks = append(hooks, h)
		}
	}
	if len(hooks) == 0 { // it must be refused
		hooks = []string{string(cmp.Or(m.named, wasm.HookAdmit))}
	}
	return hooks
}

// Options are what the module is loaded with, for a policy of that name.
func (m *Module) Options(policy string) wasm.Options {
	return wasm.Options{
		Policy: policy, Hooks: m.hooks(), Settings: map[string]any{"greeting": "hello"},
		MemoryPages: m.pages, Fuel: m.fuel, OutputBytes: m.output, Node: "node-1",
	}
}

// judged is a pod with one container of that image.
func judged(image string) *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: "web", Namespace: "default", UID: "8a1b", Annotations: map[string]string{"ballast": ballast},
	}}
	p.Spec.Containers = []v1.Container{{Name: "c", Image: image}}
	return p
}

// Request is the question whether a pod with one container of that image may
// run.
func Request(image string) *wasm.Request {
	return &wasm.Request{Time: Now, Kind: "file", Question: &api.Question{
		Op: api.Add, Pod: judged(image), Origin: api.Origin{Source: "manifests", Document: "/m/web.yaml#0"},
	}}
}
