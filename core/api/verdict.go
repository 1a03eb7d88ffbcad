package api

import (
	"slices"
	"strings"
	"time"

	"github.com/wardlet/wardlet/core/pod"
)

// Answer is what policy says about an instance of a pod.
type Answer string

// The answers. Of several the strongest counts: deny before hold before allow;
// abstain counts as none.
const (
	Abstain Answer = "abstain"
	Allow   Answer = "allow"
	Hold    Answer = "hold"
	Deny    Answer = "deny"
)

// Reasons of verdicts that no plugin gave a reason of its own for.
const (
	// ReasonPolicyDenied and ReasonPolicyHeld: a plugin said so.
	ReasonPolicyDenied = "PolicyDenied"
	ReasonPolicyHeld   = "PolicyHeld"
	// ReasonPolicyFailed: a plugin failed, and its policy's on_error decided.
	ReasonPolicyFailed = "PolicyFailed"
	// ReasonPoliciesNotReady: a set that could match has never been loaded.
	ReasonPoliciesNotReady = "PoliciesNotReady"
	// ReasonBudgetExhausted: the pod's tenant has spent what decisions about its
	// pods may take.
	ReasonBudgetExhausted = "BudgetExhausted"
	// ReasonDefaultVerdict: no policy had an opinion, and default_verdict is
	// not allow.
	ReasonDefaultVerdict = "DefaultVerdict"
	// ReasonVerdictNotKept: there is a verdict, and the disk does not take it.
	ReasonVerdictNotKept = "VerdictNotKept"
	// ReasonReferencesUnknown: a policy is not asked before it is known what the pod names.
	ReasonReferencesUnknown = "ReferencesUnknown"
	// ReasonPolicySuppressed: a filter holds an update back.
	ReasonPolicySuppressed = "PolicySuppressed"
	// ReasonException: an exception of the policy takes the pod out of it.
	ReasonException = "Exception"
	// ReasonPolicyEvicted: the pod was admitted, and a policy that came later ended
	// it.
	ReasonPolicyEvicted = "PolicyEvicted"
	// ReasonConflictRejected: the pod was admitted, and a policy that rejects all that
	// claim its identity ended it. It is judged again when that is not so any more.
	ReasonConflictRejected = "ConflictRejected"
	// ReasonPolicyViolation: the pod was admitted, and would not be now.
	ReasonPolicyViolation = "PolicyViolation"
	// ReasonAdopted: the pod ran when the agent's memory of it was lost.
	ReasonAdopted = "Adopted"
	// ReasonUnsupportedField: the pod asks for what this version does not do.
	ReasonUnsupportedField = "UnsupportedField"
)

// Verdict is what the policies together say about one instance of a pod. It is
// a value that is stored with the pod and never changes.
type Verdict struct {
	// Answer is Allow, Hold or Deny.
	Answer Answer `json:"answer"`
	// Reason is CamelCase, Message a sentence; both are empty for a plain
	// Allow. Message names the policy that decided.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Policy is the policy that decided, empty where none did, Tenant whose it is,
	// empty for the operator's.
	Policy string `json:"policy,omitempty"`
	Tenant string `json:"tenant,omitempty"`
	// RetryAfter is when a Hold wants to be looked at again, 0 for the usual
	// back-off.
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
	// ReadsNode: a policy has seen what else is on the node.
	ReadsNode bool `json:"readsNode,omitempty"`
	// References are the objects that the pod names and of which a policy has read what is in them: when one is another, what
	// was refused is judged again.
	References []SeenReference `json:"references,omitempty"`
	// Sets are the digests of the policy sets that were asked, that of a tenant's
	// after its name: "a/3f2c…".
	Sets []string `json:"sets,omitempty"`
	// Opinions are those of every policy that was asked, in that order.
	Opinions []Opinion `json:"opinions,omitempty"`
	// Mutation is what policies changed of the pod, nil where nothing, and where
	// Answer is not Allow.
	Mutation *pod.Mutation `json:"mutation,omitempty"`
	At       time.Time     `json:"at"`
}

// Opinion is the verdict of one policy.
type Opinion struct {
	Policy string `json:"policy"`
	// Tenant is whose policy it is, empty for the operator's.
	Tenant string `json:"tenant,omitempty"`
	// Mode is empty where the opinion counts. One of mode ModeWarn is shown with
	// the pod, one of ModeAudit is only on record, one of ModeMember counts in the
	// opinions of groups.
	Mode   string `json:"mode,omitempty"`
	Answer Answer `json:"answer"`
	// Fuel is what the policy took: its plugin, and its conditions.
	Fuel int64 `json:"fuel,omitempty"`
	// Failure is the code of what went wrong in the plugin (Trap, BadOutput,
	// …), empty if nothing did. Answer is then what the policy's on_error says.
	Failure string `json:"failure,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Warnings, Annotations and Explanation are the plugin's own, cut to the
	// policy's limits.
	Warnings    []string          `json:"warnings,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Explanation string            `json:"explanation,omitempty"`
	// Reads are the fields and documents that the plugin got, by the names of
	// docs/abi.md. The list is shared and does not change.
	Reads []string `json:"reads,omitempty"`
	// Patch is the JSON patch that the plugin gave with its answer, cut after
	// MaxShownPatch bytes; empty where it gave none. What it changed, if the
	// opinion counts, is in Verdict.Mutation.
	Patch string `json:"patch,omitempty"`
}

// MaxShownPatch is how many bytes of a patch are kept with an opinion.
const MaxShownPatch = 4 << 10

// The modes of policies whose opinions do not count.
const (
	ModeWarn  = "warn"
	ModeAudit = "audit"
	// ModeMember is that of policies that count only as members of groups.
	ModeMember = "member"
)

// FailureOfMember is the failure of a group of policies that comes to its answer only as
// the plugin of a member failed.
const FailureOfMember = "MemberFailed"

// Warnings are those of all opinions but those of mode ModeAudit, each preceded
// by its policy's name. That a policy of mode ModeWarn would not let the pod
// pass is one, too.
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

// would says what the opinion would do if it counted, nothing where it does, or
// would let the pod pass.
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

// Same reports whether two verdicts say the same to their readers.
func (v *Verdict) Same(o *Verdict) bool {
	return v.Answer == o.Answer && v.Reason == o.Reason && v.Message == o.Message && v.Policy == o.Policy && v.Tenant == o.Tenant &&
		v.Mutation.Hash() == o.Mutation.Hash()
}
