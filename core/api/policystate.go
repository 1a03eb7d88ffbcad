package api

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// PolicySet is the state of one directory of policies, as `get policies`
// shows it.
type PolicySet struct {
	// Tenant is whose policies they are, empty for the operator's.
	Tenant string `json:"tenant,omitempty"`
	// Directory is where they are read.
	Directory string `json:"directory"`
	// Ready is false until a set was loaded for the first time.
	Ready bool `json:"ready"`
	// Digest identifies the content of the set in force, Generation counts
	// the sets of this agent process from 1.
	Digest     string    `json:"digest,omitempty"`
	Generation int       `json:"generation"`
	Loaded     time.Time `json:"loaded,omitzero"`
	// Revision and Key are the revision of a signed set in force and the ID of the
	// key that signed it; 0 and empty for one that no trusted key has signed.
	Revision uint64 `json:"revision,omitempty"`
	Key      string `json:"key,omitempty"`
	// Refused says why what the directory holds now is not in force, empty
	// when it is; RefusedAt since when.
	Refused   string    `json:"refused,omitempty"`
	RefusedAt time.Time `json:"refusedAt,omitzero"`
	// Probation is nil where the set in force is not on probation.
	Probation *PolicyProbation `json:"probation,omitempty"`
	// Policies are those of the set in force, in the order they are asked.
	Policies []PolicyState `json:"policies"`
}

// PolicyProbation is how a set does that came into force lately.
type PolicyProbation struct {
	Since time.Time `json:"since"`
	// Policies are those of the set that are new or changed.
	Policies []string `json:"policies"`
	// Decisions counts those in which one of them was asked, Failed those of them
	// in which a plugin failed.
	Decisions int `json:"decisions"`
	Failed    int `json:"failed"`
	// Failing is why the set is in force though it has failed, empty where it has
	// not.
	Failing string `json:"failing,omitempty"`
}

// PolicyState is one policy of a set in force.
type PolicyState struct {
	Name string `json:"name"`
	// Expression is that of a group of policies, empty for a policy.
	Expression string `json:"expression,omitempty"`
	// Document and Module are paths, SHA256 the digest of the module.
	Document string   `json:"document"`
	Module   string   `json:"module"`
	SHA256   string   `json:"sha256"`
	Hooks    []string `json:"hooks"`
	// Mode is enforce, warn, audit, shadow, member or off.
	Mode     string `json:"mode"`
	Priority int    `json:"priority"`
	// OnError is hold, deny, allow or last_verdict, empty for a group.
	OnError string `json:"onError"`
	// OnChange is what becomes of pods that run and that the policy would not admit:
	// ignore, report or evict. Review is how it has judged them, nil where it does not.
	OnChange string        `json:"onChange"`
	Review   *PolicyReview `json:"review,omitempty"`
	// Shadow is how it does beside the policy of its name in force; nil where its mode is
	// not shadow.
	Shadow *PolicyShadow `json:"shadow,omitempty"`
	// MutablePaths are what it may change of a pod, none for nothing; Capabilities
	// what it sees beside the pod.
	MutablePaths []string `json:"mutablePaths,omitempty"`
	Capabilities []string `json:"capabilities,omitempty"`
	// Allowed, Denied, Held and Abstained count this process's opinions, Failed
	// those of them that the policy's plugin did not give because it failed. Updates
	// that pass and named winners of conflicts count as allowed; updates that are
	// held back and conflicts that change nothing as held; rejected ones as denied.
	Allowed   uint64 `json:"allowed"`
	Denied    uint64 `json:"denied"`
	Held      uint64 `json:"held"`
	Abstained uint64 `json:"abstained"`
	Failed    uint64 `json:"failed"`
	// Failures counts the failed ones by what went wrong with the plugin:
	// FuelExhausted, Trap and so on (docs/abi.md).
	Failures map[string]uint64 `json:"failures,omitempty"`
	// LastFailure is the newest failure of the plugin.
	LastFailure string `json:"lastFailure,omitempty"`
	// Breakers are those of the plugin that are open.
	Breakers []PolicyBreaker `json:"breakers,omitempty"`
}

// PolicyBreaker is open after failures of a plugin in a row on the pods of one tenant.
type PolicyBreaker struct {
	// Tenant is whose pods they are, empty for the operator's.
	Tenant string `json:"tenant,omitempty"`
	// Failed counts the failures in a row, Last is the code of the newest one.
	Failed int    `json:"failed"`
	Last   string `json:"last"`
	// Failing is on how many versions of pods, and conflicts, it has failed. It is asked
	// about one of these again at Until.
	Failing int       `json:"failing"`
	Until   time.Time `json:"until"`
}

// PolicyShadow is how a candidate does beside the policy in force.
type PolicyShadow struct {
	Since time.Time `json:"since"`
	// InForceSHA256 and CandidateSHA256 are the digests of the two documents that are
	// compared, in hex.
	InForceSHA256   string `json:"inForceSHA256"`
	CandidateSHA256 string `json:"candidateSHA256"`
	// Decisions counts those in which both were asked or would have been, each version of a
	// pod once for a hook. Different are those of them in which they said something else,
	// Skipped those that were not compared: the candidates' budget was spent, or the machine
	// kept one from answering, or its breaker the policy in force.
	Decisions uint64 `json:"decisions"`
	Different uint64 `json:"different"`
	Skipped   uint64 `json:"skipped"`
	// MaxDifference, MinDecisions and MinTime are what the document wants of it, Waits is
	// why it may not take the place of the policy yet, empty where it may.
	MaxDifference float64       `json:"maxDifference"`
	MinDecisions  int           `json:"minDecisions"`
	MinTime       time.Duration `json:"minTime"`
	Waits         string        `json:"waits,omitempty"`
	// Differences are the newest ones.
	Differences []ShadowDifference `json:"differences,omitempty"`
}

// ShadowDifference is a decision in which a candidate said something else.
type ShadowDifference struct {
	At time.Time `json:"at"`
	// Hook was asked about a pod, NAMESPACE/NAME.
	Hook  string `json:"hook"`
	About string `json:"about"`
	// InForce and Candidate are the answers, with reasons and messages.
	InForce       Answer `json:"inForce"`
	InForceSaid   string `json:"inForceSaid,omitempty"`
	Candidate     Answer `json:"candidate"`
	CandidateSaid string `json:"candidateSaid,omitempty"`
}

// PolicyReview is how a policy has judged the pods that run.
type PolicyReview struct {
	// Judged are the pods that run and that it was asked about. Violating are those
	// of them that it would not admit, Unjudged those that have yet to be judged.
	Judged    int `json:"judged"`
	Violating int `json:"violating"`
	Unjudged  int `json:"unjudged,omitempty"`
	// Of is how many it judged when it took effect, Evicted how many it has evicted
	// since, and Allowed how many it may before it is confirmed. All are of this
	// content of the policy, also over restarts; 0 where it evicts nothing.
	Of      int `json:"of,omitempty"`
	Evicted int `json:"evicted,omitempty"`
	Allowed int `json:"allowed,omitempty"`
	// Confirmed: more than Allowed may go.
	Confirmed bool `json:"confirmed,omitempty"`
	// Waiting are the pods that are to be evicted, Waits says what for and Next when
	// the next goes; Next is zero where that is not known.
	Waiting int       `json:"waiting,omitempty"`
	Waits   string    `json:"waits,omitempty"`
	Next    time.Time `json:"next,omitzero"`
}

// Decision is one verdict on record. Equal verdicts on an equal instance only
// raise the count.
type Decision struct {
	// First and Last are when it was given first and last.
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
	// Count is at least 1.
	Count int `json:"count"`
	// Hook is admit, merge, filter or connect. The verdict's answer is one of that hook; of
	// merge it is a Choice.
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
	// Tenant is whose pod it is, empty for the operator's.
	Tenant string `json:"tenant,omitempty"`
	// Connection is who requests what of connect, without the arguments of a command; empty
	// for other hooks.
	Connection string  `json:"connection,omitempty"`
	Verdict    Verdict `json:"verdict"`
	// ID names the record on the disk, empty where there is none; NotKept says why
	// not.
	ID      string `json:"id,omitempty"`
	NotKept string `json:"notKept,omitempty"`
}
