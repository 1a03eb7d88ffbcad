package pod

import "time"

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
	// ReasonDefaultVerdict: no policy had an opinion, and default_verdict is
	// not allow.
	ReasonDefaultVerdict = "DefaultVerdict"
	// ReasonVerdictNotKept: there is a verdict, and the disk does not take it.
	ReasonVerdictNotKept = "VerdictNotKept"
	// ReasonAdopted: the pod ran when the agent's memory of it was lost.
	ReasonAdopted = "Adopted"
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
	// Sets are the digests of the policy sets that were asked, that of a tenant's
	// after its name: "a/3f2c…".
	Sets []string `json:"sets,omitempty"`
	// Opinions are those of every policy that was asked, in that order.
	Opinions []Opinion `json:"opinions,omitempty"`
	At       time.Time `json:"at"`
}

// Opinion is the verdict of one policy.
type Opinion struct {
	Policy string `json:"policy"`
	// Tenant is whose policy it is, empty for the operator's.
	Tenant string `json:"tenant,omitempty"`
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
}

// Warnings are those of all opinions, each preceded by its policy's name.
func (v *Verdict) Warnings() []string {
	var all []string
	for i := range v.Opinions {
		for _, w := range v.Opinions[i].Warnings {
			all = append(all, v.Opinions[i].Policy+": "+w)
		}
	}
	return all
}

// Same reports whether two verdicts say the same to whoever reads them.
func (v *Verdict) Same(o *Verdict) bool {
	return v.Answer == o.Answer && v.Reason == o.Reason && v.Message == o.Message && v.Policy == o.Policy && v.Tenant == o.Tenant
}
