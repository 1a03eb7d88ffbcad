package decisions

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

// Record is a decision with all data that it depended on. The decision can be repeated from the
// record and the documents and files that it names by digest. Digests are SHA-256 in 64 hexadecimal
// digits.
type Record struct {
	api.Decision

	// Agent is the version of the agent, Node the node's name.
	Agent string `json:"agent,omitempty"`
	Node  string `json:"node"`
	// ClockSynchronized reports whether the clock was known to be right. The time of the decision
	// is that of its verdict.
	ClockSynchronized bool `json:"clockSynchronized"`
	// Kind is the kind of the source. Changed are the fields that an update changed.
	Kind    string   `json:"kind,omitempty"`
	Changed []string `json:"changed,omitempty"`
	// Pod and Old are the digests of the documents that were judged, as JSON. Old is empty if there
	// was none. For merge, Pod is empty and Old is the running pod.
	Pod string `json:"pod,omitempty"`
	Old string `json:"old,omitempty"`
	// Base is FinalHash of Pod if a merge policy had changed the document before it was judged,
	// else empty.
	Base string `json:"base,omitempty"`
	// OldInstance is the instance of Old.
	OldInstance string `json:"oldInstance,omitempty"`
	// ConnectionInput is the digest of the api.Connection of the connect hook, empty for other
	// hooks.
	ConnectionInput string `json:"connectionInput,omitempty"`
	// References is the digest of the api.References that policies saw, empty if they saw none.
	References string `json:"references,omitempty"`
	// Candidates are the candidates of merge, in the order of the question.
	Candidates []CandidateRecord `json:"candidates,omitempty"`
	// Policies are the policies with an opinion, one for each of the verdict's opinions and in the
	// same order.
	Policies []PolicyRecord `json:"policies,omitempty"`
	// Default is the answer if no policy has an opinion.
	Default api.Answer `json:"default,omitempty"`
	// Exempt: this pod is admitted if plugins fail.
	Exempt bool `json:"exempt,omitempty"`
	// MutateAPI: policies were allowed to change the pod even if it is from an API server.
	MutateAPI bool `json:"mutateAPI,omitempty"`
	// Redacted: values of the documents were removed, and the verdict follows from the remaining
	// ones.
	Redacted bool `json:"redacted,omitempty"`
	// Paced: the policies denied the pod, and it was held for a while because of earlier denials.
	Paced bool `json:"paced,omitempty"`
}

// CandidateRecord is one of the documents that claimed a pod.
type CandidateRecord struct {
	// Pod is the digest of the document.
	Pod string `json:"pod"`
	// Instance is the instance of the pod.
	Instance  string    `json:"instance"`
	UID       types.UID `json:"uid"`
	Source    string    `json:"source"`
	Document  string    `json:"document"`
	Kind      string    `json:"kind"`
	Running   bool      `json:"running,omitempty"`
	Restored  bool      `json:"restored,omitempty"`
	FirstSeen time.Time `json:"firstSeen,omitzero"`
}

// PolicyRecord has the inputs of a policy's opinion in a decision.
type PolicyRecord struct {
	Name string `json:"name"`
	// Tenant is whose policy it is, empty for the operator's.
	Tenant string `json:"tenant,omitempty"`
	// Document and Module are the digests of the policy's document, with its settings and its
	// limits, and of its plugin.
	Document string `json:"document"`
	Module   string `json:"module"`
	// Fuel, MemoryPages and OutputBytes are its limits.
	Fuel        int64 `json:"fuel"`
	MemoryPages int   `json:"memoryPages"`
	OutputBytes int   `json:"outputBytes"`
	// NodeFacts is the digest of the facts about the node that the policy saw, empty if it saw
	// none.
	NodeFacts string `json:"nodeFacts,omitempty"`
	// HostCause is the cause besides these inputs that determined the opinion, nil for none.
	HostCause *HostCause `json:"circumstance,omitempty"`
}

// HostCause is a cause of a policy's opinion besides its module, its settings and the question: an
// open breaker, a failure of the host, or the last opinion.
type HostCause struct {
	// Cut is the reason why there is no answer of the plugin, nil if there is one.
	Cut *Cut `json:"cut,omitempty"`
	// Last is the policy's opinion about the same version of the pod that was used instead of an
	// answer.
	Last *LastOpinion `json:"last,omitempty"`
	// RetryAfter is the time after which the pod was to be judged again because the plugin's
	// breaker was open, 0 for none.
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
}

// LastOpinion is the last opinion of one policy.
type LastOpinion struct {
	Policy string `json:"policy"`
	// Tenant is whose policy it is, empty for the operator's.
	Tenant  string     `json:"tenant,omitempty"`
	Answer  api.Answer `json:"answer"`
	Reason  string     `json:"reason,omitempty"`
	Message string     `json:"message,omitempty"`
	// RetryAfter is the time after which a hold asked to be judged again, 0 for none.
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
	// Changed: the policy has changed the pod.
	Changed bool `json:"changed,omitempty"`
}

// Cut is a failure that the plugin did not cause: its breaker was open, it had no instance, or the
// machine failed.
type Cut struct {
	// Code is the code of the failure, Message its message.
	Code    string `json:"code"`
	Message string `json:"message,omitempty"`
	// Asked: the plugin was being asked. Fuel is the fuel that it had used, Reads what it had read.
	Asked bool     `json:"asked,omitempty"`
	Fuel  int64    `json:"fuel,omitempty"`
	Reads []string `json:"reads,omitempty"`
	// References are the objects that the pod names, if not all of them were known yet.
	References []api.SeenReference `json:"references,omitempty"`
}

// Entry is a record to store, with the JSON of the documents that it names.
type Entry struct {
	Record *Record
	// Inputs are the documents by digest.
	Inputs map[string][]byte
}

// Count is the number of repetitions of a decision.
type Count struct {
	ID    string    `json:"id"`
	Count int       `json:"count"`
	Last  time.Time `json:"last"`
}

// inputs returns the digests of the documents that the record names.
func (r *Record) inputs() []string {
	all := []string{r.Pod, r.Old, r.ConnectionInput, r.References}
	for i := range r.Candidates {
		all = append(all, r.Candidates[i].Pod)
	}
	for i := range r.Policies {
		all = append(all, r.Policies[i].NodeFacts)
	}
	return slices.DeleteFunc(all, func(digest string) bool { return digest == "" })
}

// files calls each with the digests of the policy files that the record names, and with the tenant
// whose policy it is.
func (r *Record) files(each func(digest, tenant string)) {
	for i := range r.Policies {
		p := &r.Policies[i]
		for _, digest := range [...]string{p.Document, p.Module} {
			if len(digest) == digestLength {
				each(digest, p.Tenant)
			}
		}
	}
}
