package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/state"
)

// recording is a decision that was made and is not on record yet, with what it
// depended on. Nothing in it changes any more.
type recording struct {
	decision api.Decision
	// request is what was asked by admit or filter, contest by merge; nil for the
	// other.
	request *wasm.Request
	contest *eval.Conflict
	// sets are those that were used.
	sets []*eval.Set
	// facts gives what the policies of an owner saw of the node, nil where nobody
	// looked.
	facts func(tenant string) *wasm.NodeFacts
	// references are what policies saw of the objects that the pod names.
	references               []api.Reference
	fallback                 api.Answer
	exempt, paced, mutateAPI bool
	// met is what policies met that is no function of what they were asked.
	met eval.HostEffects
	// answer tells whoever asked. It is called once the record is kept.
	answer func()

	key   decisionKey
	entry state.DecisionEntry
	// repeats is the one of the same batch that this one is equal to.
	repeats *recording
}

// prepare makes the record and its documents.
func (r *recording) prepare(c *Config) error {
	e := state.DecisionEntry{Inputs: map[string][]byte{}, Record: &state.DecisionRecord{
		Decision: r.decision, Agent: c.Version, Node: c.Node, Default: r.fallback, Exempt: r.exempt, Paced: r.paced, MutateAPI: r.mutateAPI,
	}}
	d := documents{into: e.Inputs, texts: r.texts()}
	if q := r.request; q != nil {
		e.Record.ClockSynchronized, e.Record.Kind, e.Record.Changed = q.ClockSynchronized, q.Kind, q.Changed
		e.Record.Base = q.Question.Base.Hash()
		e.Record.Pod, e.Record.Old, e.Record.OldInstance = d.pod(q.Question.Pod), d.pod(q.Question.Old), d.instance(q.Question.Old)
		if c := q.Question.Connection; c != nil {
			e.Record.ConnectionInput = d.json(c)
		}
	}
	if m := r.contest; m != nil {
		e.Record.ClockSynchronized, e.Record.Old, e.Record.OldInstance = m.ClockSynchronized, d.pod(m.Current), d.instance(m.Current)
		for i := range m.Candidates {
			x := &m.Candidates[i]
			e.Record.Candidates = append(e.Record.Candidates, state.CandidateRecord{
				Pod: d.pod(x.Pod), Instance: d.instance(x.Pod), UID: x.Pod.UID, Source: x.Origin.Source, Document: x.Origin.Document, Kind: x.Kind,
				Running: x.Running, Restored: x.Restored, FirstSeen: x.FirstSeen,
			})
		}
	}
	if len(r.references) > 0 {
		e.Record.References = d.json(r.references)
	}
	e.Record.Policies = r.policies(&d)
	r.entry = e
	r.key = keyOf(&r.decision, inputsOf(e.Record)...)
	return d.err
}

// texts are those that wrote the decision's pods.
func (r *recording) texts() *pod.Texts {
	if r.contest != nil {
		return r.contest.Texts
	}
	return r.request.Texts
}

// policies are what the policies that had an opinion were made from.
func (r *recording) policies(d *documents) []state.PolicyRecord {
	facts := map[string]string{}
	records := make([]state.PolicyRecord, 0, len(r.decision.Verdict.Opinions))
	for i := range r.decision.Verdict.Opinions {
		o := &r.decision.Verdict.Opinions[i]
		record := state.PolicyRecord{Name: o.Policy, Tenant: o.Tenant, Circumstance: r.met.Of[eval.PolicyKey{Tenant: o.Tenant, Policy: o.Policy}]}
		if p := r.policy(o); p != nil {
			record.Document, record.Module = p.DocumentSum, p.ModuleSum
			record.Fuel, record.MemoryPages, record.OutputBytes = int64(p.Limits.Fuel), p.Limits.MemoryPages, p.Limits.OutputBytes
			if r.facts != nil && p.ReadsNode() {
				if _, made := facts[o.Tenant]; !made {
					facts[o.Tenant] = d.json(r.facts(o.Tenant))
				}
				record.NodeFacts = facts[o.Tenant]
			}
		}
		records = append(records, record)
	}
	return records
}

// policy is the one that has an opinion.
func (r *recording) policy(o *api.Opinion) *eval.Policy {
	i := slices.IndexFunc(r.sets, func(s *eval.Set) bool { return s.Tenant == o.Tenant })
	if i < 0 {
		return nil
	}
	return r.sets[i].Find(o.Policy)
}

// inputsOf tell what a decision saw from what others did. Pods go by their
// instances: what a source says of a pod beside that, such as the version of its
// status, makes no other input of it.
func inputsOf(r *state.DecisionRecord) []string {
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

// documents are what is named by digest.
type documents struct {
	into  map[string][]byte
	texts *pod.Texts
	err   error
}

// pod adds a pod and returns its digest, empty for nil.
func (d *documents) pod(p *v1.Pod) string {
	if p == nil {
		return ""
	}
	return d.add(d.texts.Whole(p))
}

// instance is that of a pod, empty for nil.
func (d *documents) instance(p *v1.Pod) string {
	if p == nil {
		return ""
	}
	instance, err := d.texts.Instance(p)
	if err != nil {
		d.err = err
	}
	return instance
}

func (d *documents) json(value any) string { return d.add(json.Marshal(value)) }

// add adds a document and returns its digest.
func (d *documents) add(text []byte, err error) string {
	if err != nil {
		d.err = err
		return ""
	}
	sum := sha256.Sum256(text)
	digest := hex.EncodeToString(sum[:])
	d.into[digest] = text
	return digest
}
