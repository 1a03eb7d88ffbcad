package sdk

import "github.com/wardlet/wardlet/plugins/sdk/internal/guest"

// Whole documents, for policies that look at everything or pass it on. The
// agent has to write a pod as JSON for that, and the plugin to read it: a
// hundred times the work of a few fields. Where a field will do, declare it.

// The numbers of documents.
const (
	documentRequest = iota
	documentObject
	documentOldObject
	documentNode
)

// ObjectJSON is the whole pod that is judged, as JSON, without its status. The
// text is the policy's own. In a merge it is nil.
func ObjectJSON() []byte { return guest.Document(documentObject) }

// OldObjectJSON is the whole of what was admitted before, or nil; see
// OldObject.
func OldObjectJSON() []byte { return guest.Document(documentOldObject) }

// RequestJSON is an object of all fields of the question.
func RequestJSON() []byte { return guest.Document(documentRequest) }

// NodeJSON is an object of the facts about the node, or nil where the agent
// knows none or the policy may not see them; see Node.
func NodeJSON() []byte { return guest.Document(documentNode) }
