package sdk

import "github.com/wardlet/wardlet/plugins/sdk/internal/guest"

// The following functions return whole documents, for policies that check or copy
// everything. The agent must encode the pod as JSON and the plugin must decode it, which
// takes a hundred times as long as a few fields. If fields are enough, declare fields
// instead.

// The numbers of documents.
const (
	documentRequest = iota
	documentObject
	documentOldObject
	documentNode
)

// ObjectJSON returns the whole judged pod as JSON, without its status. The policy may
// change the returned text. In the hook merge it is nil.
func ObjectJSON() []byte { return guest.Document(documentObject) }

// OldObjectJSON returns the whole old object (see OldObject), or nil if there is none.
func OldObjectJSON() []byte { return guest.Document(documentOldObject) }

// RequestJSON returns an object with all fields of the question.
func RequestJSON() []byte { return guest.Document(documentRequest) }

// NodeJSON returns an object with the facts about the node (see Node). It is nil if the
// agent has none or the policy may not see them.
func NodeJSON() []byte { return guest.Document(documentNode) }
