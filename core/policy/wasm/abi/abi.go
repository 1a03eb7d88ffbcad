package abi

import (
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// Hook is a kind of decision that plugins are asked for.
type Hook string

// The hooks.
const (
	HookAdmit   Hook = "admit"
	HookMerge   Hook = "merge"
	HookFilter  Hook = "filter"
	HookConnect Hook = "connect"
)

// Exports are the names of the exported functions, by the hook that a policy names.
var Exports = map[string]string{
	string(HookAdmit): "wardlet_admit", string(HookMerge): "wardlet_merge", string(HookFilter): "wardlet_filter",
	string(HookConnect): "wardlet_connect",
}

// Request is a question to the hook admit, filter or connect.
type Request struct {
	Question *api.Question
	// Kind is the kind of the question's source: file, http or api.
	Kind string
	// Tenant is the tenant that the pod belongs to, empty for the operator's.
	Tenant string
	// Changed lists what an update changed, in the words of docs/abi.md. It is
	// ignored for other operations.
	Changed []string
	// Time is the time of the decision. The plugin sees no other clock.
	Time time.Time
	// ClockSynchronized reports whether the node's clock is known to be right.
	ClockSynchronized bool
	// Node are facts about the node, as far as the policy's tenant may see them;
	// nil if none are known. The plugin gets them only if its policy has the
	// capability node.read.
	Node *NodeFacts
	// References are the ConfigMaps and Secrets that the pod names. The plugin sees
	// them only if its policy has the capability references.read.
	References []api.Reference
	// Texts encodes the pods as JSON and shares the result within the decision. nil
	// works, too.
	Texts *pod.Texts
}

// request is the part of a question that plugins see, by the names of
// docs/abi.md. Optional fields are omitted if they are empty.
type request struct {
	Hook              Hook     `json:"hook"`
	Operation         api.Op   `json:"operation,omitempty"`
	Source            string   `json:"source,omitempty"`
	Kind              string   `json:"kind,omitempty"`
	Document          string   `json:"document,omitempty"`
	Replaces          string   `json:"replaces,omitempty"`
	Tenant            string   `json:"tenant,omitempty"`
	Changed           []string `json:"changed,omitempty"`
	Node              string   `json:"node"`
	Time              int64    `json:"time"`
	ClockSynchronized bool     `json:"clockSynchronized"`
	// Connection is nil for all hooks except connect.
	Connection *api.Connection `json:"connection,omitempty"`
	// References are nil for a policy that may not see them.
	References []api.Reference `json:"references,omitempty"`
}
