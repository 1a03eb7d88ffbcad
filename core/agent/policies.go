package agent

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission/gate"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/clusterset"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/node"
	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/pleg"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy"
	"github.com/wardlet/wardlet/core/policy/decisionlog"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/review"
	"github.com/wardlet/wardlet/core/state/decisions"
	"github.com/wardlet/wardlet/core/worker"
)

// wirePolicies creates the policy engine and the gates before it. Without a directory of policies
// there is no engine, and every pod is admitted.
func (n *Node) wirePolicies(a *Agent) error {
	if !n.cfg.HasPolicies() {
		return nil
	}
	engine, err := parts.Engine(n.state.Path(), &n.cfg.Policy, n.log, parts.Budgets(n.cfg.Tenants)...)
	if err != nil {
		return err
	}
	n.engine = engine
	c, err := policyConfig(n.cfg, n.node, eval.Sandbox(engine), n.log)
	if err != nil {
		return err
	}
	c.Kept, c.Opinions, c.Version, c.Facts = n.state.PolicySets(), n.state.Opinions(), n.version, n.nodeFacts()
	c.Records, c.Running, c.Evictions = n.openDecisions(), &runningPods{n}, n.state.EvictionCounts()
	c.References = references{n.objects, func() *mux.Mux { return n.mux }}
	n.policies = policy.New(c)
	n.adoption = &gate.Adoption{Runtime: knownPods{a.cache, a.workers}, Lost: n.state.Lost, Log: n.log}
	return nil
}

// policyConfig returns the part of the configuration that the policy engine needs.
func policyConfig(cfg *config.Config, nodeName string, loader eval.Loader, log *slog.Logger) (policy.Config, error) {
	kinds := map[string]string{}
	for _, s := range cfg.Sources {
		kinds[s.Name] = s.Kind
	}
	operators, err := parts.OperatorTrust(cfg)
	if err != nil {
		return policy.Config{}, err
	}
	tenants := make([]policy.Tenant, len(cfg.Tenants))
	for i, t := range cfg.Tenants {
		theirs, err := parts.TenantTrust(&t)
		if err != nil {
			return policy.Config{}, err
		}
		tenants[i] = policy.Tenant{Name: t.Name, Dir: t.PolicyDir, Trust: theirs, MaxSuppress: t.MaxSuppress, FuelPerSecond: t.FuelPerSecond, PolicyMemory: t.PolicyMemory, Owns: func(namespace string) bool {
			return slices.ContainsFunc(t.Namespaces, func(pattern string) bool { return pod.MatchNamespace(pattern, namespace) })
		}}
	}
	return policy.Config{
		Dir: cfg.Policy.Dir, Awaited: parts.AwaitedPolicies(cfg), Trust: operators, Tenants: tenants, AllowUnpinned: cfg.Policy.AllowUnpinned, ModuleBytes: cfg.Policy.ModuleBytes,
		Sources: parts.SourceNames(cfg), MaxSuppress: cfg.Policy.MaxSuppress, Exempt: cfg.Policy.Exempt, DenyAtOnce: !cfg.Policy.DenyPacing, MutateAPI: cfg.Policy.MutateAPI, DefaultVerdict: api.Answer(cfg.Policy.DefaultVerdict), Kinds: kinds, Node: nodeName,
		Loader: loader, Logger: log, Now: time.Now, ClockSynchronized: node.ClockSynchronized,
	}, nil
}

// clusterSet returns the part that reads the operator's policies from the cluster.
func (n *Node) clusterSet() *clusterset.Set {
	namespace, name, _ := strings.Cut(n.cfg.Policy.ClusterSet, "/") // it is checked
	return clusterset.New(clusterset.Config{
		Client: n.apiClient, Namespace: namespace, Name: name, Dir: n.cfg.Policy.Dir, Logger: n.log,
		Changed: func(ctx context.Context) {
			if _, err := n.policies.Reload(ctx, ""); err != nil && ctx.Err() == nil {
				n.log.Warn("the policies of the cluster are not in force", "err", err)
			}
		},
	})
}

// knownPods are the pods of the runtime and of the workers.
type knownPods struct {
	*pleg.Cache
	*worker.Pool
}

// openDecisions opens the record of decisions, in which each owner of pods has a share. The agent
// starts even if that fails.
func (n *Node) openDecisions() decisionlog.Records {
	log, err := n.state.Decisions(recordLimits(n.cfg))
	if err != nil {
		return brokenRecords{err}
	}
	n.decisions = log
	return log
}

// recordLimits returns the maximum size in bytes of each owner's records, by tenant.
func recordLimits(cfg *config.Config) map[string]int64 {
	limits := map[string]int64{"": cfg.Policy.RecordBytes}
	for i := range cfg.Tenants {
		limits[cfg.Tenants[i].Name] = cfg.Tenants[i].RecordBytes
	}
	return limits
}

// brokenRecords store nothing. Decisions are made nevertheless, and are shown with the reason why
// they are not on record.
type brokenRecords struct{ err error }

func (b brokenRecords) Append(_ string, entries []decisions.Entry) []error {
	errs := make([]error, len(entries))
	for i := range errs {
		errs[i] = b.err
	}
	return errs
}

func (b brokenRecords) Counted(string, []decisions.Count) error { return b.err }

func (b brokenRecords) KeepFiles(string, map[string][]byte) error { return b.err }

func (b brokenRecords) Newest(int) ([]decisions.Record, error) { return nil, b.err }

// nodeFacts returns the facts about the node for policies. Its pods are the admitted ones that have
// not terminated, without mirror pods. It asks the mux, which is made later.
func (n *Node) nodeFacts() *policy.Node {
	return &policy.Node{
		Is:     n.labelsAndAllocatable,
		Pods:   n.admittedPods,
		Wanted: func(uid types.UID, instance string) bool { return n.mux.WantedAs(uid, instance) },
		Ended:  func(p *v1.Pod) bool { return pod.IsTerminal(p.Status.Phase) || n.outcomes.Ended(p) },
	}
}

// labelsAndAllocatable returns the node's current labels and allocatable resources.
func (n *Node) labelsAndAllocatable() (labels, allocatable map[string]string) {
	is := n.object.Node()
	if last := n.lastFacts.Load(); last != nil && last.of == is {
		return is.Labels, last.allocatable
	}
	allocatable = map[string]string{}
	for name, q := range is.Status.Allocatable {
		allocatable[string(name)] = q.String()
	}
	n.lastFacts.Store(&allocatableOf{is, allocatable})
	return is.Labels, allocatable
}

// allocatableOf caches the allocatable resources of one state of the node, in the form for
// policies.
type allocatableOf struct {
	of          *v1.Node
	allocatable map[string]string
}

// admittedPods are the pods of nodeFacts. They include pods that policies admitted and for which
// the node has no room yet: these start once there is room, without being judged again.
func (n *Node) admittedPods() []policy.NodePod {
	var pods []policy.NodePod
	for _, d := range n.mux.Pods() {
		if !d.Admitted || pod.IsMirror(d.Pod) || pod.IsTerminal(d.Pod.Status.Phase) {
			continue
		}
		if st, ok := n.statuses.Get(d.Pod.UID); ok && pod.IsTerminal(st.Phase) {
			continue
		}
		pods = append(pods, policy.NodePod{Pod: d.Pod, Source: d.Origin.Source})
	}
	return pods
}

// runningPods are the pods that run, for policies that judge them again when the policies change.
// It asks the mux, which is made later.
type runningPods struct{ node *Node }

// Pods implements policy.Running.
func (r *runningPods) Pods() []review.RunningPod {
	var pods []review.RunningPod
	for _, d := range r.node.mux.Pods() {
		if !d.HandedOn || !d.Admitted || pod.IsMirror(d.Pod) || d.Pod.DeletionTimestamp != nil || r.over(d.Pod) {
			continue
		}
		pods = append(pods, review.RunningPod{Pod: d.Pod, Origin: d.Origin, Verdict: d.Verdict, Rejected: d.Rejected})
	}
	return pods
}

// over reports whether a pod has terminated or is terminating.
func (r *runningPods) over(p *v1.Pod) bool {
	if st, ok := r.node.statuses.Get(p.UID); ok && pod.IsTerminal(st.Phase) {
		return true
	}
	return pod.IsTerminal(p.Status.Phase) || r.node.workers.TerminationRequested(p.UID)
}

// Violates implements policy.Running.
func (r *runningPods) Violates(p *v1.Pod, v review.Violation) {
	r.node.statuses.SetPolicyViolation(p.UID, v.Reason, v.Message, time.Now())
}

// Tell implements policy.Running.
func (r *runningPods) Tell(p *v1.Pod, reason, message string) {
	r.node.recorder.Event(p, v1.EventTypeWarning, reason, message)
}

// Judged implements policy.Running.
func (r *runningPods) Judged(opinions []api.Opinion) { r.node.meters.Verdicts.Spent(opinions) }

// Evict implements policy.Running.
func (r *runningPods) Evict(ctx context.Context, p *v1.Pod, v api.Verdict) error {
	return r.node.mux.Evict(ctx, p, v)
}
