package decisions

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

// Record is a decision with all that it depended on. With it, and with
// what it names by digest, the decision can be made again. Digests are SHA-256 in
// 64 hexadecimal digits.
type Record struct {
	api.Decision

	// Agent is the version of the agent, Node the node's name.
	Agent string `json:"agent,omitempty"`
	Node  string `json:"node"`
	// ClockSynchronized is whether the clock was known to be right. The time of the
	// decision is that of its verdict.
	ClockSynchronized bool `json:"clockSynchronized"`
	// Kind is the kind of the source, Changed what an update changed.
	Kind    string   `json:"kind,omitempty"`
	Changed []string `json:"changed,omitempty"`
	// Pod and Old are the digests of the documents that were judged, as JSON; Old
	// is empty where there was none. Of merge, Pod is empty and Old what ran.
	Pod string `json:"pod,omitempty"`
	Old string `json:"old,omitempty"`
	// Base is FinalHash of Pod if a merge policy had changed the document before it was
	// judged, empty if not.
	Base string `json:"base,omitempty"`
	// OldInstance is the instance of Old.
	OldInstance string `json:"oldInstance,omitempty"`
	// ConnectionInput is the digest of the api.Connection of connect, empty for other hooks.
	ConnectionInput string `json:"connectionInput,omitempty"`
	// References is the digest of the api.References that policies saw, empty where none did.
	References string `json:"references,omitempty"`
	// Candidates are those of merge, in the order they were asked about.
	Candidates []CandidateRecord `json:"candidates,omitempty"`
	// Policies are those that had an opinion, in that order: one for each of the
	// verdict's opinions.
	Policies []PolicyRecord `json:"policies,omitempty"`
	// Default is what counts where no policy has an opinion.
	Default api.Answer `json:"default,omitempty"`
	// Exempt: failures of plugins let this pod pass.
	Exempt bool `json:"exempt,omitempty"`
	// MutateAPI: policies may have changed the pod also if it is an API server's.
	MutateAPI bool `json:"mutateAPI,omitempty"`
	// Redacted: values of the documents were taken out, and the verdict follows from
	// what is left.
	Redacted bool `json:"redacted,omitempty"`
	// Paced: the policies denied the pod, and because of denials before it that
	// was held for a while.
	Paced bool `json:"paced,omitempty"`
}

// CandidateRecord is one of the documents that claimed a pod.
type CandidateRecord struct {
	// Pod is the digest of the document.
	Pod string `json:"pod"`
	// Instance is that of the pod.
	Instance  string    `json:"instance"`
	UID       types.UID `json:"uid"`
	Source    string    `json:"source"`
	Document  string    `json:"document"`
	Kind      string    `json:"kind"`
	Running   bool      `json:"running,omitempty"`
	Restored  bool      `json:"restored,omitempty"`
	FirstSeen time.Time `json:"firstSeen,omitzero"`
}

// PolicyRecord is what a policy of a decision was made from.
type PolicyRecord struct {
	Name string `json:"name"`
	// Tenant is whose policy it is, empty for the operator's.
	Tenant string `json:"tenant,omitempty"`
	// Document and Module are the digests of the policy's document, with its
	// settings and its limits, and of its plugin.
	Document string `json:"document"`
	Module   string `json:"module"`
	// Fuel, MemoryPages and OutputBytes are its limits.
	Fuel        int64 `json:"fuel"`
	MemoryPages int   `json:"memoryPages"`
	OutputBytes int   `json:"outputBytes"`
	// NodeFacts is the digest of what it saw of the node, empty where it saw
	// nothing.
	NodeFacts string `json:"nodeFacts,omitempty"`
	// HostCause is what decided beside all that, nil for nothing.
	HostCause *HostCause `json:"circumstance,omitempty"`
}

// HostCause is what determined an opinion of a policy beside its module, its settings and the
// question: an open breaker, a failure of the host, or the last opinion.
type HostCause struct {
	// Cut is why there is no answer of the plugin, nil where there is one.
	Cut *Cut `json:"cut,omitempty"`
	// Last is what the policy had said of the same version of the pod, where that
	// counted instead of an answer.
	Last *LastOpinion `json:"last,omitempty"`
	// RetryAfter is when the pod was to be judged again because the plugin's breaker was
	// open, 0 where nothing follows from that.
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
}

// LastOpinion is what one policy said.
type LastOpinion struct {
	Policy string `json:"policy"`
	// Tenant is whose policy it is, empty for the operator's.
	Tenant  string     `json:"tenant,omitempty"`
	Answer  api.Answer `json:"answer"`
	Reason  string     `json:"reason,omitempty"`
	Message string     `json:"message,omitempty"`
	// RetryAfter is when a hold wanted to be looked at again, 0 for no wish.
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
	// Changed: the policy has changed the pod.
	Changed bool `json:"changed,omitempty"`
}

// Cut is a failure that was not the plugin's own: its breaker was open, it had no
// instance, or the machine failed.
type Cut struct {
	// Code is that of the failure, Message what it says of itself.
	Code    string `json:"code"`
	Message string `json:"message,omitempty"`
	// Asked: the plugin was being asked, had taken so much Fuel and had got what
	// Reads says.
	Asked bool     `json:"asked,omitempty"`
	Fuel  int64    `json:"fuel,omitempty"`
	Reads []string `json:"reads,omitempty"`
	// References are the objects that the pod names, where not all of them were known yet.
	References []api.SeenReference `json:"references,omitempty"`
}

// Entry is a record to be kept, with the JSON of the documents that it
// names.
type Entry struct {
	Record *Record
	// Inputs are by digest.
	Inputs map[string][]byte
}

// Count says how often a decision has been repeated since.
type Count struct {
	ID    string    `json:"id"`
	Count int       `json:"count"`
	Last  time.Time `json:"last"`
}

// inputs are the digests of the documents that the record names.
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

// files returns the digests of the policy files that the record names, each with
// the tenant whose policy it is.
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
