package wasm

import (
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// Request is a question to the hook admit, filter or connect.
type Request struct {
	Question *api.Question
	// Kind is the kind of the question's source: file, http or api.
	Kind string
	// Tenant is whose pod it is, empty for the operator's.
	Tenant string
	// Changed says in the words of docs/abi.md what an update changed. It is
	// not looked at for other operations.
	Changed []string
	// Time is the decision's time: all that the plugin sees of a clock.
	Time time.Time
	// ClockSynchronized says whether the node's clock is known to be right.
	ClockSynchronized bool
	// Node are facts about the node, as far as the policy's tenant may see
	// them; nil where none are known. The plugin gets them only if its policy
	// has the capability node.read.
	Node *NodeFacts
	// References are the ConfigMaps and Secrets that the pod names. The plugin sees them only if its policy has the capability
	// references.read.
	References []api.Reference
	// Texts writes the pods as JSON for all who want that of the decision; nil works.
	Texts *pod.Texts
}

// seenRequest is what plugins see of a question, by the names of docs/abi.md. What
// may be missing is left out when empty.
type seenRequest struct {
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
	// Connection is nil for other hooks than connect.
	Connection *api.Connection `json:"connection,omitempty"`
	// References are nil for a policy that may not see them.
	References []api.Reference `json:"references,omitempty"`
}
