package api

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

// Question asks policy for a verdict on one instance of a pod.
type Question struct {
	// Op is Add for a pod with a new UID, UpdateOp for a changed instance of a pod that was admitted
	// before, and Review for a running pod, for which Old equals Pod. It is Connect for a connection
	// to a running pod.
	Op Op
	// Pod is the instance to judge.
	Pod *v1.Pod
	// Old is the earlier admitted pod: the last admitted version of the same pod, or the pod that this
	// one would replace. It is nil if there is none.
	Old *v1.Pod
	// Replaces is the UID of Old if Old is another pod; empty otherwise.
	Replaces types.UID
	Origin   Origin
	// Base has the changes of a merge policy that made Pod from the source's document; nil if Pod is
	// the source's pod.
	Base *pod.Mutation
	// Connection is the connection for the hook connect to decide, nil for other hooks.
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
	// Hook is the hook that is asked; see the constants above.
	Hook string `json:"hook"`
	// Since is the time of the question.
	Since time.Time `json:"since"`
	// Policy is the policy that is answering, empty for none. Message says what the answer waits for,
	// empty if unknown.
	Policy  string `json:"policy,omitempty"`
	Message string `json:"message,omitempty"`
}

// String returns the hook, the time of the question, and what the answer waits for.
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

// Waiting is a version of a pod that policy or a filter has not admitted yet.
type Waiting struct {
	// Pod is the waiting version.
	Pod *v1.Pod `json:"pod"`
	// Running is the version that still runs, nil if none runs.
	Running *v1.Pod `json:"running,omitempty"`
	Origin  Origin  `json:"origin"`
	// Verdict is Hold, or Deny if Running is set. Its answer is empty if there was none before the
	// question in Asked.
	Verdict Verdict `json:"verdict"`
	// Asked is the current question, nil for none.
	Asked *Asked `json:"asked,omitempty"`
	// Suppressed is true if policy admits the version and a filter holds it back. Then Verdict has the
	// filter's reason.
	Suppressed bool `json:"suppressed,omitempty"`
	// RetryAt is the time when policy or the filter is asked again. It is zero if only a change of the
	// document or of the policies leads to a new question.
	RetryAt time.Time `json:"retryAt,omitzero"`
	// Until is the time from which no filter can hold the version back. It is zero if Suppressed is
	// false, and while the time is unknown.
	Until time.Time `json:"until,omitzero"`
}
