package api

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

// Contest asks which document may run, of several that claim one identity. There is one document of
// each source.
type Contest struct {
	Identity types.NamespacedName
	// Candidates are two or more, ordered by the names of their sources.
	Candidates []Candidate
}

// Candidate is a document in a Contest.
type Candidate struct {
	Pod    *v1.Pod
	Origin Origin
	// Running is the candidate's pod on the node, nil if there is none. It may be an earlier version
	// with another UID.
	Running *v1.Pod
	// Restored means that the candidate is known from before a restart, and its source has not
	// confirmed it since.
	Restored bool
}

// Choice is the decision in a contest.
type Choice string

// The choices.
const (
	// NoChoice leaves the decision to the rule in agent.toml.
	NoChoice Choice = "abstain"
	// ChooseWinner lets one candidate run. Running pods of the others terminate once the winner is
	// admitted.
	ChooseWinner Choice = "winner"
	// ChooseCurrent lets the running candidate continue, with its newest version. If none runs, the
	// rule in agent.toml decides.
	ChooseCurrent Choice = "current"
	// ChooseNone starts no candidate. A running pod continues unchanged, unless the policy evicts
	// rejected pods.
	ChooseNone Choice = "none"
)

// Resolution is the answer to a Contest. It is stored and never modified.
type Resolution struct {
	Choice Choice `json:"choice"`
	// Winner is the index of the winning candidate, with ChooseWinner only.
	Winner int `json:"winner,omitempty"`
	// Mutation has the policy's changes of the winner, nil for none. The changed winner is judged
	// instead of the source's document. With ChooseWinner only.
	Mutation *pod.Mutation `json:"mutation,omitempty"`
	// Policy is the policy that decided. Tenant is its owner. Message is the reason, in a sentence.
	Policy  string `json:"policy,omitempty"`
	Tenant  string `json:"tenant,omitempty"`
	Message string `json:"message,omitempty"`
	// Sets are the digests of the policy sets that were asked.
	Sets []string  `json:"sets,omitempty"`
	At   time.Time `json:"at"`
}

// Conflict is an identity that several documents claim, in the form of `get conflicts`.
type Conflict struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Rule is the rule that decided: RuleIsolate, RulePrecedence, or RulePolicy.
	Rule string `json:"rule"`
	// Message is the reason, if the rule alone does not explain the decision.
	Message string    `json:"message,omitempty"`
	Since   time.Time `json:"since"`
	// Claims are ordered by source and document.
	Claims []Claim `json:"claims"`
}

// The rules by which conflicts are decided.
const (
	// RuleIsolate runs one document of every source.
	RuleIsolate = "isolate"
	// RulePrecedence runs the document of the first source in a list.
	RulePrecedence = "precedence"
	// RulePolicy runs the document that a merge policy chooses.
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

// ClaimState is the state of a claim.
type ClaimState string

// The states of a claim.
const (
	// ClaimRuns: the pod was passed on to run.
	ClaimRuns ClaimState = "Runs"
	// ClaimWaits: the document won and is not admitted yet, or there is no decision yet.
	ClaimWaits ClaimState = "Waits"
	// ClaimGivesWay: the pod runs until the winner is admitted.
	ClaimGivesWay ClaimState = "GivesWay"
	// ClaimRefused: the document won, and policy denied it.
	ClaimRefused ClaimState = "Refused"
	// ClaimLost: another document runs.
	ClaimLost ClaimState = "Lost"
)
