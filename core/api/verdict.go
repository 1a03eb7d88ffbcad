package api

import (
	"slices"
	"strings"
	"time"

	"github.com/wardlet/wardlet/core/pod"
)

// Answer is the answer of policy about an instance of a pod.
type Answer string

// The answers. Of several answers the strongest wins: deny before hold before allow. abstain is no
// answer.
const (
	Abstain Answer = "abstain"
	Allow   Answer = "allow"
	Hold    Answer = "hold"
	Deny    Answer = "deny"
)

// Reasons of verdicts without a reason from a plugin.
const (
	// ReasonPolicyDenied and ReasonPolicyHeld: a plugin denied or held the pod.
	ReasonPolicyDenied = "PolicyDenied"
	ReasonPolicyHeld   = "PolicyHeld"
	// ReasonPolicyFailed: a plugin failed, and its policy's on_error decided.
	ReasonPolicyFailed = "PolicyFailed"
	// ReasonPoliciesNotReady: a set that could match has never been loaded.
	ReasonPoliciesNotReady = "PoliciesNotReady"
	// ReasonBudgetExhausted: the pod's tenant has spent its budget for decisions.
	ReasonBudgetExhausted = "BudgetExhausted"
	// ReasonDefaultVerdict: no policy had an opinion, and default_verdict is
	// not allow.
	ReasonDefaultVerdict = "DefaultVerdict"
	// ReasonVerdictNotKept: the verdict cannot be written to the disk.
	ReasonVerdictNotKept = "VerdictNotKept"
	// ReasonReferencesUnknown: a policy is not asked before the objects that the pod names are known.
	ReasonReferencesUnknown = "ReferencesUnknown"
	// ReasonPolicySuppressed: a filter holds an update back.
	ReasonPolicySuppressed = "PolicySuppressed"
	// ReasonException: the pod matches one of the policy's exceptions.
	ReasonException = "Exception"
	// ReasonPolicyEvicted: the pod was admitted, and a later policy evicted it.
	ReasonPolicyEvicted = "PolicyEvicted"
	// ReasonConflictRejected: the pod was admitted, and a policy that rejects all pods with its
	// identity evicted it. The pod is judged again when the policy no longer rejects them.
	ReasonConflictRejected = "ConflictRejected"
	// ReasonPolicyViolation: the pod was admitted, and would not be admitted now.
	ReasonPolicyViolation = "PolicyViolation"
	// ReasonAdopted: the pod ran when the agent's memory of it was lost.
	ReasonAdopted = "Adopted"
	// ReasonUnsupportedField: the pod uses a field that this version does not support.
	ReasonUnsupportedField = "UnsupportedField"
)

// Verdict is the combined verdict of the policies about one instance of a pod. It is stored with
// the pod and never modified.
type Verdict struct {
	// Answer is Allow, Hold or Deny.
	Answer Answer `json:"answer"`
	// Reason is CamelCase, Message a sentence; both are empty for a plain
	// Allow. Message names the policy that decided.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Policy is the policy that decided, empty for none. Tenant is its owner, empty for the operator.
	Policy string `json:"policy,omitempty"`
	Tenant string `json:"tenant,omitempty"`
	// RetryAfter is the delay until a held pod is judged again, 0 for the usual back-off.
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
	// ReadsNode means that a policy has read the other pods on the node.
	ReadsNode bool `json:"readsNode,omitempty"`
	// References are the objects named by the pod whose content a policy has read. When one of them
	// changes, a refused pod is judged again.
	References []SeenReference `json:"references,omitempty"`
	// Sets are the digests of the policy sets that were asked. The digest of a tenant's set follows
	// the tenant's name: "a/3f2c…".
	Sets []string `json:"sets,omitempty"`
	// Opinions are the opinions of every policy that was asked, in the order of the questions.
	Opinions []Opinion `json:"opinions,omitempty"`
	// Mutation has the policies' changes of the pod. It is nil without changes, and if Answer is not
	// Allow.
	Mutation *pod.Mutation `json:"mutation,omitempty"`
	At       time.Time     `json:"at"`
}

// Opinion is the verdict of one policy.
type Opinion struct {
	Policy string `json:"policy"`
	// Tenant is the owner of the policy, empty for the operator.
	Tenant string `json:"tenant,omitempty"`
	// Mode is empty if the opinion takes effect. An opinion with ModeWarn is only shown with the pod,
	// one with ModeAudit is only recorded, and one with ModeMember only takes effect through groups.
	Mode   string `json:"mode,omitempty"`
	Answer Answer `json:"answer"`
	// Fuel is the cost of the policy: its plugin, and its conditions.
	Fuel int64 `json:"fuel,omitempty"`
	// Failure is the code of the plugin's failure (Trap, BadOutput, …), empty for none. After a
	// failure, Answer is the policy's on_error.
	Failure string `json:"failure,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Warnings, Annotations and Explanation are from the plugin, cut to the policy's limits.
	Warnings    []string          `json:"warnings,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Explanation string            `json:"explanation,omitempty"`
	// Reads are the fields and documents that the plugin got, with the names in docs/abi.md. The list
	// is shared and must not be modified.
	Reads []string `json:"reads,omitempty"`
	// Patch is the plugin's JSON patch, cut after MaxShownPatch bytes; empty for none. If the opinion
	// takes effect, Verdict.Mutation has the changes.
	Patch string `json:"patch,omitempty"`
}

// MaxShownPatch is the maximum size of a patch stored with an opinion, in bytes.
const MaxShownPatch = 4 << 10

// The modes of policies whose opinions do not take effect themselves.
const (
	ModeWarn  = "warn"
	ModeAudit = "audit"
	// ModeMember is the mode of policies that take effect only as members of groups.
	ModeMember = "member"
)

// FailureOfMember is the failure of a group of policies whose answer depends on the failure of a
// member's plugin.
const FailureOfMember = "MemberFailed"

// Warnings returns the warnings of all opinions except those with ModeAudit, each after its
// policy's name. They include that a policy with ModeWarn would not admit the pod.
func (v *Verdict) Warnings() []string {
	var all []string
	for i := range v.Opinions {
		o := &v.Opinions[i]
		if o.Mode == ModeAudit {
			continue
		}
		if would := o.would(); would != "" {
			all = append(all, o.Policy+": "+would)
		}
		for _, w := range o.Warnings {
			all = append(all, o.Policy+": "+w)
		}
	}
	return all
}

// would describes what the opinion would do if it took effect. It is empty if the opinion takes
// effect, or would admit the pod.
func (o *Opinion) would() string {
	if o.Mode != ModeWarn {
		return ""
	}
	what := map[Answer]string{Deny: "would deny this pod", Hold: "would hold this pod"}[o.Answer]
	if what == "" {
		return ""
	}
	return strings.Join(slices.DeleteFunc([]string{what, o.Reason, o.Message}, func(part string) bool { return part == "" }), ": ")
}

// Same reports whether two verdicts have the same content for their readers.
func (v *Verdict) Same(o *Verdict) bool {
	return v.Answer == o.Answer && v.Reason == o.Reason && v.Message == o.Message && v.Policy == o.Policy && v.Tenant == o.Tenant &&
		v.Mutation.Hash() == o.Mutation.Hash()
}
