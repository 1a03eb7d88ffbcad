package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/sched"
	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/state/decisions"
)

// ErrNotJudged means that no policy had a part in the recorded verdict, because the sets
// were not ready. There is nothing to repeat.
var ErrNotJudged = errors.New("no policy was asked: the sets were not ready")

// Artifacts returns the artifacts that records name by their digests, or an error.
type Artifacts interface {
	// Input returns a document that a decision saw, as JSON.
	Input(digest string) ([]byte, error)
	// PolicyFile returns a document or a module of a policy.
	PolicyFile(digest string) ([]byte, error)
}

// Replayer repeats decisions from their records, with the policies that made them. It needs
// neither the policies' directory nor the agent. Only one call may run at a time.
type Replayer struct {
	loader eval.Loader
	log    *slog.Logger
	loaded map[loadedKey]*loadedPolicy
	// decision is the number of the decision that is being made.
	decision int
}

// loadedKey identifies what a policy is made from.
type loadedKey struct{ document, module, tenant, node string }

// loadedPolicy is a policy with the number of the decision that used it last.
type loadedPolicy struct {
	*eval.Policy

	used int
}

// MaxLoaded is how many policies stay loaded between decisions. If the last decision had
// more policies, these stay loaded.
const MaxLoaded = 64

// NewReplayer returns a Replayer that loads plugins with loader.
func NewReplayer(loader eval.Loader, log *slog.Logger) *Replayer {
	return &Replayer{loader: loader, log: log, loaded: map[loadedKey]*loadedPolicy{}}
}

// Close closes all plugins.
func (r *Replayer) Close() {
	for key := range r.loaded {
		r.unload(key)
	}
}

func (r *Replayer) unload(key loadedKey) {
	r.loaded[key].Plugin.Release()
	delete(r.loaded, key)
}

// Replay repeats the decision of a record. The verdict has the form of a recorded one. For
// a decision that was paced, it is the denial that was put off. The error is ErrNotJudged,
// the error of ctx, or says what is missing or damaged.
func (r *Replayer) Replay(ctx context.Context, record *decisions.Record, of Artifacts) (api.Verdict, error) {
	return r.replay(ctx, record, of, func(*eval.Decision) {}, nil)
}

// If the machine has no instance of a plugin, but had one when the decision was recorded,
// the replay waits for one: the machine makes it within some milliseconds.
const (
	repeatPause = 10 * time.Millisecond
	mostRepeats = 1000
)

// replay does the same as Replay, with the set instead in place of its owner's set; nil for
// no other set. change may change the decision before it is made.
func (r *Replayer) replay(ctx context.Context, record *decisions.Record, of Artifacts, change func(*eval.Decision), instead *eval.Set) (api.Verdict, error) {
	r.decision++
	defer r.makeRoom()
	for try := 1; ; try++ {
		v, err := r.once(ctx, record, of, change, instead)
		if err != nil {
			return api.Verdict{}, err
		}
		o := byMachine(&v, record.Policies)
		switch {
		case o == nil:
			return v, nil
		case try == mostRepeats:
			return api.Verdict{}, fmt.Errorf("%s: %s", eval.Called(o.Policy, o.Tenant), o.Message)
		}
		select {
		case <-ctx.Done():
			return api.Verdict{}, context.Cause(ctx)
		case <-time.After(repeatPause):
		}
	}
}

// byMachine returns an opinion that is due to a failure of the machine which the policies'
// records do not have, nil for none.
func byMachine(v *api.Verdict, policies []decisions.PolicyRecord) *api.Opinion {
	met := metBy(policies)
	for i := range v.Opinions {
		o := &v.Opinions[i]
		if c := met.Of[eval.PolicyKey{Tenant: o.Tenant, Policy: o.Policy}]; o.Failure != string(abi.NotReady) && o.Failure != string(abi.HostError) || c != nil && c.Cut != nil {
			continue
		}
		return o
	}
	return nil
}

// once tries once to repeat a decision.
func (r *Replayer) once(ctx context.Context, record *decisions.Record, of Artifacts, change func(*eval.Decision), instead *eval.Set) (api.Verdict, error) {
	if record.Verdict.Reason == api.ReasonPoliciesNotReady || record.Hook == api.HookMerge && len(record.Verdict.Opinions) == 0 {
		return api.Verdict{}, ErrNotJudged
	}
	policies := record.Policies
	if instead != nil {
		policies = without(policies, instead.Tenant)
	}
	sets, err := r.sets(ctx, record, policies, of)
	if err != nil {
		return api.Verdict{}, err
	}
	if instead != nil {
		sets = withinSets(instead, sets, record.Hook)
	}
	e := &ArtifactReader{Of: of}
	var v api.Verdict
	switch record.Hook {
	case api.HookAdmit, api.HookFilter, api.HookConnect:
		d := e.Decision(record)
		if e.Err != nil {
			return api.Verdict{}, e.Err
		}
		d.Effects = metBy(policies)
		change(d)
		v = r.decide(ctx, record, sets, d)
	case api.HookMerge:
		m := e.Conflict(record)
		if e.Err != nil {
			return api.Verdict{}, e.Err
		}
		m.Effects = metBy(policies)
		decided, opinions, _ := eval.Choose(ctx, sets, record.Node, m, &sched.CurrentPolicy{})
		decided.At, decided.Sets = record.Verdict.At, setNames(sets)
		v = eval.MergeVerdict(&decided, opinions)
	default:
		return api.Verdict{}, fmt.Errorf("the hook %q is unknown: the record is of a newer agent", record.Hook)
	}
	if p := closedOf(sets); p != nil {
		return api.Verdict{}, fmt.Errorf("%s: its plugin was closed meanwhile", eval.Called(p.Name, p.Tenant))
	}
	eval.ResetAll(ctx, sets)
	return v, context.Cause(ctx)
}

// closedOf returns a policy whose plugin has no users left, nil for none.
func closedOf(sets []*eval.Set) *eval.Policy {
	for _, s := range sets {
		for _, p := range s.Policies {
			if p.Plugin != nil && p.Plugin.Users.Load() <= 0 {
				return p
			}
		}
	}
	return nil
}

// decide asks the policies about one pod.
func (r *Replayer) decide(ctx context.Context, record *decisions.Record, sets []*eval.Set, d *eval.Decision) api.Verdict {
	if record.Hook == api.HookFilter {
		v := eval.Filter(ctx, sets, d, func(string) time.Duration { return math.MaxInt64 })
		return *eval.FilterVerdict(&v)
	}
	v := eval.Judge(ctx, sets, d, record.Default)
	v.ReadsNode, v.Mutation = d.Seen != nil, v.Mutation.Shown()
	return v
}

// sets returns the sets of a record, in its order, with the policies that had an opinion.
func (r *Replayer) sets(ctx context.Context, record *decisions.Record, had []decisions.PolicyRecord, of Artifacts) ([]*eval.Set, error) {
	all := make([]*eval.Set, 0, len(record.Verdict.Sets))
	found := 0
	for _, name := range record.Verdict.Sets {
		tenant, digest, owned := strings.Cut(name, "/")
		if !owned {
			tenant, digest = "", name
		}
		var policies []*eval.Policy
		for i := range had {
			if had[i].Tenant != tenant {
				continue
			}
			p, err := r.policy(ctx, &had[i], record.Node, of)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", eval.Called(had[i].Name, tenant), err)
			}
			policies = append(policies, p)
		}
		found += len(policies)
		s := eval.NewSet(digest, policies)
		s.Tenant = tenant
		all = append(all, s)
	}
	if found != len(had) {
		return nil, errors.New("it names policies of sets that it does not name")
	}
	return all, nil
}

func setNames(sets []*eval.Set) (names []string) {
	for _, s := range sets {
		names = append(names, s.Name())
	}
	return names
}

// policy loads one policy, or returns it if it is already loaded.
func (r *Replayer) policy(ctx context.Context, of *decisions.PolicyRecord, node string, artifacts Artifacts) (*eval.Policy, error) {
	key := loadedKey{of.Document, of.Module, of.Tenant, node}
	if p := r.loaded[key]; p != nil {
		p.used = r.decision
		return p.Policy, nil
	}
	text, err := artifacts.PolicyFile(of.Document)
	if err != nil {
		return nil, fmt.Errorf("its document: %w", err)
	}
	doc, err := spec.Parse(of.Name, of.Name, text, true)
	if err != nil {
		return nil, fmt.Errorf("its document: %w", err)
	}
	p := &eval.Policy{Document: doc, Tenant: of.Tenant, ModuleSum: of.Module, DocumentSum: of.Document, Counters: &eval.Counters{}, Log: r.log}
	if doc.IsGroup() {
		return p, nil
	}
	module, err := artifacts.PolicyFile(of.Module)
	if err != nil {
		return nil, fmt.Errorf("its module: %w", err)
	}
	options := doc.PluginOptions(node)
	options.Tenant = of.Tenant
	plugin, err := r.loader.Load(ctx, module, options)
	if err != nil {
		return nil, fmt.Errorf("its module: %w", err)
	}
	p.Plugin = eval.NewSharedPlugin(plugin, of.Module, options, r.log)
	r.loaded[key] = &loadedPolicy{p, r.decision}
	return p, nil
}

// makeRoom closes the least recently used policies if too many are loaded, but never one
// that the last decision used.
func (r *Replayer) makeRoom() {
	for len(r.loaded) > MaxLoaded {
		var oldest loadedKey
		used := r.decision
		for key, p := range r.loaded {
			if p.used < used {
				oldest, used = key, p.used
			}
		}
		if used == r.decision {
			return
		}
		r.unload(oldest)
	}
}

// ArtifactReader reads the artifacts that a record names. Err is the first error.
type ArtifactReader struct {
	Of  Artifacts
	Err error
}

func (e *ArtifactReader) read(digest string, into any) {
	text, err := e.Of.Input(digest)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil && e.Err == nil {
		e.Err = err
	}
}

func (e *ArtifactReader) pod(digest string) *v1.Pod {
	if digest == "" {
		return nil
	}
	p := &v1.Pod{}
	e.read(digest, p)
	return p
}

// Decision returns the decision of a record of the hooks admit, filter and connect.
func (e *ArtifactReader) Decision(record *decisions.Record) *eval.Decision {
	q := &api.Question{
		Op: record.Op, Pod: e.pod(record.Pod), Old: e.pod(record.Old), Replaces: record.Replaces,
		Origin: api.Origin{Source: record.Source, Document: record.Document},
	}
	if record.Base != "" {
		q.Base = &pod.Mutation{Instance: record.Instance, FinalHash: record.Base}
	}
	if record.ConnectionInput != "" {
		q.Connection = &api.Connection{}
		e.read(record.ConnectionInput, q.Connection)
	}
	if q.Pod == nil {
		q.Pod = &v1.Pod{}
		e.Err = errors.Join(e.Err, errors.New("the record names no pod"))
	}
	d := &eval.Decision{
		Hook: record.Hook, Node: record.Node, Instance: record.Instance, MutateAPI: record.MutateAPI, Exempt: record.Exempt,
		Names: eval.NamesOf(q, record.Node), Cache: &eval.VerdictCache{}, Current: &sched.CurrentPolicy{},
		Request: &abi.Request{
			Question: q, Kind: record.Kind, Tenant: record.Tenant, Changed: record.Changed, Time: record.Verdict.At,
			ClockSynchronized: record.ClockSynchronized,
		},
	}
	d.References.Of = e.references(record)
	facts := e.Facts(record)
	if record.Verdict.ReadsNode || len(facts) > 0 {
		d.Look = func() *eval.NodeView { return &eval.NodeView{} }
	}
	d.See = func(tenant string, _ *eval.NodeView) *abi.NodeFacts { return facts[tenant] }
	for i := range record.Policies {
		x := &record.Policies[i]
		if x.HostCause == nil || x.HostCause.Last == nil {
			continue
		}
		d.Remember(x.HostCause.Last)
	}
	return d
}

var errUnseenReference = errors.New("the record lacks what the policies would see of it")

// SeenReferences returns what the policies of a record saw of objects that the pod names.
func (e *ArtifactReader) SeenReferences(record *decisions.Record) (all []api.Reference) {
	if record.References != "" {
		e.read(record.References, &all)
	}
	return all
}

// references returns the function eval.ReferenceView.Of for a record.
func (e *ArtifactReader) references(record *decisions.Record) func(*v1.Pod, pod.Reference) (api.Reference, time.Duration, error) {
	all := e.SeenReferences(record)
	return func(_ *v1.Pod, r pod.Reference) (api.Reference, time.Duration, error) {
		i := slices.IndexFunc(all, func(x api.Reference) bool { return x.Name == r.Name && (x.Kind == api.SecretKind) == r.Secret })
		if i < 0 {
			return api.Reference{}, 0, errUnseenReference
		}
		return all[i], 0, nil
	}
}

// Facts returns what the policies of each owner saw of the node.
func (e *ArtifactReader) Facts(record *decisions.Record) map[string]*abi.NodeFacts {
	facts := map[string]*abi.NodeFacts{}
	for i := range record.Policies {
		if x := &record.Policies[i]; x.NodeFacts != "" && facts[x.Tenant] == nil {
			facts[x.Tenant] = &abi.NodeFacts{}
			e.read(x.NodeFacts, facts[x.Tenant])
		}
	}
	return facts
}

// Conflict returns the conflict of a record of the hook merge.
func (e *ArtifactReader) Conflict(record *decisions.Record) *eval.Conflict {
	m := &eval.Conflict{
		MergeRequest: &abi.MergeRequest{
			Current: e.pod(record.Old), Tenant: record.Tenant, Time: record.Verdict.At, ClockSynchronized: record.ClockSynchronized,
		},
		MutateAPI: record.MutateAPI,
	}
	for i := range record.Candidates {
		x := &record.Candidates[i]
		m.Places = append(m.Places, i)
		m.Candidates = append(m.Candidates, abi.Candidate{
			Pod: e.pod(x.Pod), Origin: api.Origin{Source: x.Source, Document: x.Document, FirstSeen: x.FirstSeen}, Kind: x.Kind,
			Running: x.Running, Restored: x.Restored, FirstSeen: x.FirstSeen,
		})
		if m.Candidates[i].Pod == nil {
			e.Err = errors.Join(e.Err, errors.New("the record names a candidate without its pod"))
		}
	}
	return m
}

// metBy returns the recorded host effects of policies.
func metBy(policies []decisions.PolicyRecord) eval.HostEffects {
	met := eval.HostEffects{Repeated: true, Of: map[eval.PolicyKey]*decisions.HostCause{}}
	for i := range policies {
		if x := &policies[i]; x.HostCause != nil {
			met.Of[eval.PolicyKey{Tenant: x.Tenant, Policy: x.Name}] = x.HostCause
		}
	}
	return met
}
