package api

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

// Contest asks who may run of the documents, one of each source, that claim
// one identity.
type Contest struct {
	Identity types.NamespacedName
	// Candidates are two or more, ordered by the names of their sources.
	Candidates []Candidate
}

// Candidate is one of them.
type Candidate struct {
	Pod    *v1.Pod
	Origin Origin
	// Running is what the node has of this candidate, nil where it has
	// nothing. It may be an earlier version with another UID.
	Running *v1.Pod
	// Restored: it is known from before a restart, and its source has not confirmed
	// it since.
	Restored bool
}

// Choice is how a contest is decided.
type Choice string

// The choices.
const (
	// NoChoice leaves it to the rule in agent.toml.
	NoChoice Choice = "abstain"
	// ChooseWinner lets one candidate run. What runs of the others gives way
	// once the winner is admitted.
	ChooseWinner Choice = "winner"
	// ChooseCurrent lets that go on which runs, with its newest version; where
	// nothing runs the rule in agent.toml decides.
	ChooseCurrent Choice = "current"
	// ChooseNone starts none of them. What runs goes on as it is, unless the policy
	// evicts what it rejects.
	ChooseNone Choice = "none"
)

// Resolution is the answer to a Contest. It is a value that is stored and
// never changes.
type Resolution struct {
	Choice Choice `json:"choice"`
	// Winner is the index of the candidate, with ChooseWinner only.
	Winner int `json:"winner,omitempty"`
	// Mutation is what the policy changed of the winner, nil for nothing: that is
	// judged in place of the source's document. With ChooseWinner only.
	Mutation *pod.Mutation `json:"mutation,omitempty"`
	// Policy is who decided, Tenant whose that is, Message why, in a sentence.
	Policy  string `json:"policy,omitempty"`
	Tenant  string `json:"tenant,omitempty"`
	Message string `json:"message,omitempty"`
	// Sets are the digests of the policy sets that were asked.
	Sets []string  `json:"sets,omitempty"`
	At   time.Time `json:"at"`
}

// Conflict is an identity that several documents claim, as `get conflicts`
// shows it.
type Conflict struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Rule decided it: RuleIsolate, RulePrecedence, or RulePolicy.
	Rule string `json:"rule"`
	// Message says why, where there is more to say than the rule does.
	Message string    `json:"message,omitempty"`
	Since   time.Time `json:"since"`
	// Claims are ordered by source and document.
	Claims []Claim `json:"claims"`
}

// The rules by which conflicts are decided.
const (
	// RuleIsolate runs one document of every source.
	RuleIsolate = "isolate"
	// RulePrecedence runs that of the first source in a list.
	RulePrecedence = "precedence"
	// RulePolicy runs what a merge policy says.
	RulePolicy = "policy"
)

// Claim is a document's part in a conflict.
type Claim struct {
	Source   string    `json:"source"`
	Document string    `json:"document"`
	Pod      string    `json:"pod"`
	UID      types.UID `json:"uid"`
	// State is one of the constants below.
	State ClaimState `json:"state"`
	// Message says why a claim is not ClaimRuns.
	Message string `json:"message,omitempty"`
}

// ClaimState is what became of a claim.
type ClaimState string

// The states of a claim.
const (
	// ClaimRuns: the pod was handed on to run.
	ClaimRuns ClaimState = "Runs"
	// ClaimWaits: it won and is not admitted yet, or nothing is decided.
	ClaimWaits ClaimState = "Waits"
	// ClaimGivesWay: it runs until the winner is admitted.
	ClaimGivesWay ClaimState = "GivesWay"
	// ClaimRefused: it won and policy denied it.
	ClaimRefused ClaimState = "Refused"
	// ClaimLost: another one runs.
	ClaimLost ClaimState = "Lost"
)
