package decisionlog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/state/decisions"
)

// Recording is a decision that is not recorded yet, with its inputs. It does not change any
// more.
type Recording struct {
	Decision api.Decision
	// Request is the question of the hooks admit, filter and connect. Conflict is the
	// question of the hook merge. The other one is nil.
	Request  *abi.Request
	Conflict *eval.Conflict
	// Sets are the sets that the decision used.
	Sets []*eval.Set
	// Facts returns what the policies of an owner saw of the node; nil if none looked.
	Facts func(tenant string) *abi.NodeFacts
	// References are what policies saw of the objects that the pod names.
	References               []api.Reference
	Fallback                 api.Answer
	Exempt, Paced, MutateAPI bool
	// Effects are the inputs that do not follow from the question.
	Effects eval.HostEffects
	// Answer answers the question. It is called once the record is written.
	Answer func()

	key   decisionKey
	entry decisions.Entry
	// repeats is an equal decision of the same batch, nil for none.
	repeats *Recording
}

// prepare makes the record and its documents.
func (r *Recording) prepare(c *Options) error {
	e := decisions.Entry{Inputs: map[string][]byte{}, Record: &decisions.Record{
		Decision: r.Decision, Agent: c.Version, Node: c.Node, Default: r.Fallback, Exempt: r.Exempt, Paced: r.Paced, MutateAPI: r.MutateAPI,
	}}
	d := Documents{Into: e.Inputs, texts: r.texts()}
	if q := r.Request; q != nil {
		e.Record.ClockSynchronized, e.Record.Kind, e.Record.Changed = q.ClockSynchronized, q.Kind, q.Changed
		e.Record.Base = q.Question.Base.Hash()
		e.Record.Pod, e.Record.Old, e.Record.OldInstance = d.Pod(q.Question.Pod), d.Pod(q.Question.Old), d.instance(q.Question.Old)
		if c := q.Question.Connection; c != nil {
			e.Record.ConnectionInput = d.JSON(c)
		}
	}
	if m := r.Conflict; m != nil {
		e.Record.ClockSynchronized, e.Record.Old, e.Record.OldInstance = m.ClockSynchronized, d.Pod(m.Current), d.instance(m.Current)
		for i := range m.Candidates {
			x := &m.Candidates[i]
			e.Record.Candidates = append(e.Record.Candidates, decisions.CandidateRecord{
				Pod: d.Pod(x.Pod), Instance: d.instance(x.Pod), UID: x.Pod.UID, Source: x.Origin.Source, Document: x.Origin.Document, Kind: x.Kind,
				Running: x.Running, Restored: x.Restored, FirstSeen: x.FirstSeen,
			})
		}
	}
	if len(r.References) > 0 {
		e.Record.References = d.JSON(r.References)
	}
	e.Record.Policies = r.policies(&d)
	r.entry = e
	r.key = KeyOf(&r.Decision, inputsOf(e.Record)...)
	return d.Err
}

// texts returns the Texts that rendered the decision's pods.
func (r *Recording) texts() *pod.Texts {
	if r.Conflict != nil {
		return r.Conflict.Texts
	}
	return r.Request.Texts
}

// policies returns the records of the policies that had an opinion.
func (r *Recording) policies(d *Documents) []decisions.PolicyRecord {
	facts := map[string]string{}
	records := make([]decisions.PolicyRecord, 0, len(r.Decision.Verdict.Opinions))
	for i := range r.Decision.Verdict.Opinions {
		o := &r.Decision.Verdict.Opinions[i]
		record := decisions.PolicyRecord{Name: o.Policy, Tenant: o.Tenant, HostCause: r.Effects.Of[eval.PolicyKey{Tenant: o.Tenant, Policy: o.Policy}]}
		if p := r.policy(o); p != nil {
			record.Document, record.Module = p.DocumentSum, p.ModuleSum
			record.Fuel, record.MemoryPages, record.OutputBytes = int64(p.Limits.Fuel), p.Limits.MemoryPages, p.Limits.OutputBytes
			if r.Facts != nil && p.ReadsNode() {
				if _, made := facts[o.Tenant]; !made {
					facts[o.Tenant] = d.JSON(r.Facts(o.Tenant))
				}
				record.NodeFacts = facts[o.Tenant]
			}
		}
		records = append(records, record)
	}
	return records
}

// policy returns the policy of an opinion.
func (r *Recording) policy(o *api.Opinion) *eval.Policy {
	i := slices.IndexFunc(r.Sets, func(s *eval.Set) bool { return s.Tenant == o.Tenant })
	if i < 0 {
		return nil
	}
	return r.Sets[i].Find(o.Policy)
}

// inputsOf returns the inputs that distinguish decisions. Pods are identified by their
// instances: another value of other fields, such as the status, is no other input.
func inputsOf(r *decisions.Record) []string {
	all := []string{r.OldInstance, r.Kind, r.Base}
	for _, input := range []string{r.ConnectionInput, r.References} {
		if input != "" {
			all = append(all, input)
		}
	}
	for i := range r.Candidates {
		x := &r.Candidates[i]
		all = append(all, x.Instance, x.Source, x.Document, x.Kind)
		if x.Running {
			all = append(all, "running")
		}
		if x.Restored {
			all = append(all, "restored")
		}
	}
	for i := range r.Policies {
		all = append(all, r.Policies[i].NodeFacts)
	}
	return all
}

// Documents are inputs of decisions by digest.
type Documents struct {
	Into  map[string][]byte
	texts *pod.Texts
	Err   error
}

// Pod adds a pod and returns its digest, empty for nil.
func (d *Documents) Pod(p *v1.Pod) string {
	if p == nil {
		return ""
	}
	return d.add(d.texts.Whole(p))
}

// instance returns the instance of a pod, empty for nil.
func (d *Documents) instance(p *v1.Pod) string {
	if p == nil {
		return ""
	}
	instance, err := d.texts.Instance(p)
	if err != nil {
		d.Err = err
	}
	return instance
}

// JSON adds a value as JSON and returns its digest.
func (d *Documents) JSON(value any) string { return d.add(json.Marshal(value)) }

// add adds a document and returns its digest.
func (d *Documents) add(text []byte, err error) string {
	if err != nil {
		d.Err = err
		return ""
	}
	sum := sha256.Sum256(text)
	digest := hex.EncodeToString(sum[:])
	d.Into[digest] = text
	return digest
}
