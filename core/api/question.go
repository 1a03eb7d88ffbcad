package api

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

// Question asks policy for a verdict on one instance of a pod.
type Question struct {
	// Op is Add for a pod of a new UID, UpdateOp for a changed instance of a
	// pod that was admitted before, Review for one that runs; of that Old is Pod.
	// Connect is for a connection to one that runs.
	Op Op
	// Pod is the instance to judge.
	Pod *v1.Pod
	// Old is what was admitted before: the same pod's last admitted version,
	// or the pod that this one would replace. Nil where there is none.
	Old *v1.Pod
	// Replaces is the UID of Old where it is another pod's; empty otherwise.
	Replaces types.UID
	Origin   Origin
	// Base is what a merge policy has made of the source's document, and Pod that;
	// nil where Pod is as its source has it.
	Base *pod.Mutation
	// Connection is what the hook connect decides, nil for other hooks.
	Connection *Connection
}

// The hooks of policies.
const (
	HookAdmit   = "admit"
	HookMerge   = "merge"
	HookFilter  = "filter"
	HookConnect = "connect"
)

// Asked is a question about a version of a pod that has no answer yet.
type Asked struct {
	// Hook is the one that is asked; see the constants above.
	Hook string `json:"hook"`
	// Since is when it was asked.
	Since time.Time `json:"since"`
	// Policy is the policy that is at it, empty for none. Message says what the
	// answer waits for, empty where that is not known.
	Policy  string `json:"policy,omitempty"`
	Message string `json:"message,omitempty"`
}

// String says who is asked since when, and what the answer waits for.
func (a *Asked) String() string {
	text := map[string]string{
		HookAdmit:  "admission is being asked since ",
		HookMerge:  "who wins the conflict is being asked since ",
		HookFilter: "the filter is being asked since ",
	}[a.Hook] + a.Since.UTC().Format(time.RFC3339)
	if a.Message != "" {
		text += ": " + a.Message
	}
	return text
}

// Waiting is a version of a pod that policy or a filter has not let through.
type Waiting struct {
	// Pod is the version that waits.
	Pod *v1.Pod `json:"pod"`
	// Running is what runs on meanwhile, nil where nothing does.
	Running *v1.Pod `json:"running,omitempty"`
	Origin  Origin  `json:"origin"`
	// Verdict is Hold, or Deny where Running is set; its answer is empty where there
	// was none before the question that is Asked.
	Verdict Verdict `json:"verdict"`
	// Asked is the question that is under way, nil for none.
	Asked *Asked `json:"asked,omitempty"`
	// Suppressed is true where policy admits the version and a filter holds it
	// back; Verdict then says why.
	Suppressed bool `json:"suppressed,omitempty"`
	// RetryAt is when policy or the filter is asked again, zero where only a change of the
	// document or of the policies makes it so.
	RetryAt time.Time `json:"retryAt,omitzero"`
	// Until is when it passes whatever a filter says, zero where Suppressed is
	// false and while that is not known.
	Until time.Time `json:"until,omitzero"`
}
