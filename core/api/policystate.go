package api

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// PolicySet is the state of one directory of policies, in the form of `get policies`.
type PolicySet struct {
	// Tenant is the owner of the policies, empty for the operator.
	Tenant string `json:"tenant,omitempty"`
	// Directory is the directory of the policies.
	Directory string `json:"directory"`
	// Ready is false until a set was loaded for the first time.
	Ready bool `json:"ready"`
	// Digest identifies the content of the set in force. Generation counts the sets of this agent
	// process from 1.
	Digest     string    `json:"digest,omitempty"`
	Generation int       `json:"generation"`
	Loaded     time.Time `json:"loaded,omitzero"`
	// Revision and Key are the revision of a signed set in force and the ID of the key that signed it.
	// They are 0 and empty if no trusted key has signed the set.
	Revision uint64 `json:"revision,omitempty"`
	Key      string `json:"key,omitempty"`
	// Refused says why the current content of the directory is not in force, empty if it is. RefusedAt
	// is the time of the refusal.
	Refused   string    `json:"refused,omitempty"`
	RefusedAt time.Time `json:"refusedAt,omitzero"`
	// Probation is nil if the set in force is not on probation.
	Probation *PolicyProbation `json:"probation,omitempty"`
	// Policies are the policies of the set in force, in the order in which they are asked.
	Policies []PolicyState `json:"policies"`
}

// PolicyProbation is the state of the probation of a new set.
type PolicyProbation struct {
	Since time.Time `json:"since"`
	// Policies are the new and changed policies of the set.
	Policies []string `json:"policies"`
	// Decisions is the number of decisions in which one of these policies was asked. Failed is the
	// number of these decisions in which a plugin failed.
	Decisions int `json:"decisions"`
	Failed    int `json:"failed"`
	// Failing says why the set is in force although its probation has failed, empty if it has not
	// failed.
	Failing string `json:"failing,omitempty"`
}

// PolicyState is one policy of a set in force.
type PolicyState struct {
	Name string `json:"name"`
	// Expression is the expression of a group of policies, empty for a policy.
	Expression string `json:"expression,omitempty"`
	// Document and Module are paths. SHA256 is the digest of the module.
	Document string   `json:"document"`
	Module   string   `json:"module"`
	SHA256   string   `json:"sha256"`
	Hooks    []string `json:"hooks"`
	// Mode is enforce, warn, audit, shadow, member or off.
	Mode     string `json:"mode"`
	Priority int    `json:"priority"`
	// OnError is hold, deny, allow or last_verdict, empty for a group.
	OnError string `json:"onError"`
	// OnChange says what happens to running pods that the policy would not admit: ignore, report or
	// evict. Review is the result of judging running pods, nil if the policy does not judge them.
	OnChange string        `json:"onChange"`
	Review   *PolicyReview `json:"review,omitempty"`
	// Shadow compares the policy with the policy of the same name in force; nil if the mode is not
	// shadow.
	Shadow *PolicyShadow `json:"shadow,omitempty"`
	// MutablePaths are the paths of a pod that the policy may change, none for nothing. Capabilities
	// are the policy's inputs beside the pod.
	MutablePaths []string `json:"mutablePaths,omitempty"`
	Capabilities []string `json:"capabilities,omitempty"`
	// Allowed, Denied, Held and Abstained count this process's opinions. Failed counts those that
	// on_error decided because the plugin failed. Updates that pass and named winners of conflicts are
	// counted as allowed; updates that are held back and conflicts without a change as held; rejected
	// ones as denied.
	Allowed   uint64 `json:"allowed"`
	Denied    uint64 `json:"denied"`
	Held      uint64 `json:"held"`
	Abstained uint64 `json:"abstained"`
	Failed    uint64 `json:"failed"`
	// Failures counts the failures by the code of the plugin's failure: FuelExhausted, Trap and so on
	// (docs/abi.md).
	Failures map[string]uint64 `json:"failures,omitempty"`
	// LastFailure is the newest failure of the plugin.
	LastFailure string `json:"lastFailure,omitempty"`
	// Breakers are the open breakers of the plugin.
	Breakers []PolicyBreaker `json:"breakers,omitempty"`
}

// PolicyBreaker is open after several consecutive failures of a plugin on the pods of one tenant.
type PolicyBreaker struct {
	// Tenant is the tenant of the pods, empty for the operator.
	Tenant string `json:"tenant,omitempty"`
	// Failed is the number of consecutive failures. Last is the code of the newest one.
	Failed int    `json:"failed"`
	Last   string `json:"last"`
	// Failing is the number of versions of pods, and of conflicts, on which the plugin has failed. The
	// plugin is asked about one of them again at Until.
	Failing int       `json:"failing"`
	Until   time.Time `json:"until"`
}

// PolicyShadow is the comparison of a candidate with the policy in force.
type PolicyShadow struct {
	Since time.Time `json:"since"`
	// InForceSHA256 and CandidateSHA256 are the digests of the two compared documents, in hex.
	InForceSHA256   string `json:"inForceSHA256"`
	CandidateSHA256 string `json:"candidateSHA256"`
	// Decisions is the number of decisions in which both were asked or would have been; each version
	// of a pod is counted once per hook. Different is the number of them with different answers.
	// Skipped is the number of decisions without a comparison: because the candidates' budget was
	// spent, because the machine prevented one answer, or because a breaker prevented that of the
	// policy in force.
	Decisions uint64 `json:"decisions"`
	Different uint64 `json:"different"`
	Skipped   uint64 `json:"skipped"`
	// MaxDifference, MinDecisions and MinTime are the requirements in the candidate's document. Waits
	// says why the candidate may not replace the policy yet, empty if it may.
	MaxDifference float64       `json:"maxDifference"`
	MinDecisions  int           `json:"minDecisions"`
	MinTime       time.Duration `json:"minTime"`
	Waits         string        `json:"waits,omitempty"`
	// Differences are the newest differences.
	Differences []ShadowDifference `json:"differences,omitempty"`
}

// ShadowDifference is a decision in which a candidate's answer differs.
type ShadowDifference struct {
	At time.Time `json:"at"`
	// Hook is the hook that was asked about a pod, NAMESPACE/NAME.
	Hook  string `json:"hook"`
	About string `json:"about"`
	// InForce and Candidate are the answers, with reasons and messages.
	InForce       Answer `json:"inForce"`
	InForceSaid   string `json:"inForceSaid,omitempty"`
	Candidate     Answer `json:"candidate"`
	CandidateSaid string `json:"candidateSaid,omitempty"`
}

// PolicyReview is the result of a policy's judgment of the running pods.
type PolicyReview struct {
	// Judged is the number of running pods that the policy was asked about. Violating is the number of
	// them that it would not admit. Unjudged is the number of running pods still to be judged.
	Judged    int `json:"judged"`
	Violating int `json:"violating"`
	Unjudged  int `json:"unjudged,omitempty"`
	// Of is the number of pods that the policy judged when it took effect. Evicted is the number of
	// pods that it has evicted since, and Allowed the maximum of that number before a confirmation.
	// All are about this content of the policy, also across restarts. They are 0 if the policy evicts
	// nothing.
	Of      int `json:"of,omitempty"`
	Evicted int `json:"evicted,omitempty"`
	Allowed int `json:"allowed,omitempty"`
	// Confirmed means that more than Allowed pods may be evicted.
	Confirmed bool `json:"confirmed,omitempty"`
	// Waiting is the number of pods to be evicted. Waits says what the evictions wait for. Next is the
	// time of the next eviction, zero if unknown.
	Waiting int       `json:"waiting,omitempty"`
	Waits   string    `json:"waits,omitempty"`
	Next    time.Time `json:"next,omitzero"`
}

// Decision is one recorded verdict. Equal verdicts on an equal instance only increase the count.
type Decision struct {
	// First and Last are the times of the first and the last such verdict.
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
	// Count is at least 1.
	Count int `json:"count"`
	// Hook is admit, merge, filter or connect. The verdict's answer is one of that hook's answers; for
	// merge, it is a Choice.
	Hook string `json:"hook"`
	// Op is empty for merge.
	Op        Op        `json:"operation,omitempty"`
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	UID       types.UID `json:"uid"`
	Instance  string    `json:"instance"`
	// Replaces is the UID of the pod this one would replace.
	Replaces types.UID `json:"replaces,omitempty"`
	Source   string    `json:"source"`
	Document string    `json:"document"`
	// Tenant is the tenant of the pod, empty for the operator.
	Tenant string `json:"tenant,omitempty"`
	// Connection is the user and the request of connect, without the arguments of a command; empty for
	// other hooks.
	Connection string  `json:"connection,omitempty"`
	Verdict    Verdict `json:"verdict"`
	// ID names the record on the disk, empty if there is none. NotKept says why there is none.
	ID      string `json:"id,omitempty"`
	NotKept string `json:"notKept,omitempty"`
}
