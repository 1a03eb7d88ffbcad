package author

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/replay"
	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/state/decisions"
)

// Manifest is a file with a pod.
type Manifest struct {
	// Path is the file's name in errors, and the name of the document for merge policies.
	Path string
	Text []byte
	// Source is the name of the pod's source, empty for "test". Kind is the source's kind,
	// empty for a kind that the policy is asked about.
	Source, Kind string
}

// Question is a question that an author asks a draft.
type Question struct {
	// Hook is one of the draft's hooks, empty for the first one.
	Hook string
	// Pods has the one pod or, for merge, all candidates. Old is the version that was
	// admitted before. Running is for merge: 1 plus the index in Pods of the candidate that
	// runs, 0 for none.
	Pods    []Manifest
	Old     *Manifest
	Running int
	// Time is the time of the decision, zero for that of tests.
	Time time.Time
	// Node is a file with facts about the node, as YAML; nil for an empty node.
	Node *Manifest
	// References is a file with the existing objects among those that the pod names, as
	// YAML; nil if none exists.
	References *Manifest
	// Connection is a file with the fields of request.connection, as YAML; nil for an exec
	// in the first container.
	Connection *Manifest
}

// Ask asks the draft a question. The error says what is wrong with the question, or is the
// error of ctx. A failure of the plugin is a result, not an error.
func (d *Draft) Ask(ctx context.Context, q *Question) (eval.Result, error) {
	v := &spec.TestCase{Hook: q.Hook, At: q.Time}
	if v.Hook == "" {
		v.Hook = d.Hooks()[0]
	}
	if !slices.Contains(d.Hooks(), v.Hook) {
		return eval.Result{}, fmt.Errorf("the policy does not have the hook %q, but %q", v.Hook, d.Hooks())
	}
	if v.At.IsZero() {
		v.At = spec.TestTime
	}
	facts := &abi.NodeFacts{}
	if q.Node != nil {
		if err := yaml.UnmarshalStrict(q.Node.Text, facts); err != nil {
			return eval.Result{}, fmt.Errorf("%s: these are no facts about a node, which has labels, allocatable and pods: %w", q.Node.Path, err)
		}
	}
	var known []api.Reference
	if q.References != nil {
		if err := yaml.UnmarshalStrict(q.References.Text, &known); err != nil {
			return eval.Result{}, fmt.Errorf("%s: this is no list of references, each of which has kind, name, keys and digest: %w", q.References.Path, err)
		}
	}
	if v.Hook == api.HookMerge {
		return d.askMerge(ctx, v, q)
	}
	if err := readConnection(v, q.Connection); err != nil {
		return eval.Result{}, err
	}
	if len(q.Pods) != 1 {
		return eval.Result{}, fmt.Errorf("the hook %s is about one pod, found %d", v.Hook, len(q.Pods))
	}
	v.Pod = d.put(&q.Pods[0])
	if q.Old != nil {
		v.Old = d.put(q.Old)
	}
	pods, err := d.decode(v)
	if err != nil {
		return eval.Result{}, err
	}
	asked := d.policy.QuestionOfTest(v, pods)
	if old := asked.Old; v.Hook == api.HookConnect {
		asked.Old = nil
	} else if q.Old == nil {
		asked.Op, asked.Old = api.Add, nil
	} else if old.Namespace != asked.Pod.Namespace || old.Name != asked.Pod.Name {
		return eval.Result{}, fmt.Errorf("%s is the pod %s/%s and %s is %s/%s: a change is of one pod",
			q.Pods[0].Path, asked.Pod.Namespace, asked.Pod.Name, q.Old.Path, old.Namespace, old.Name)
	}
	r := d.policy.RequestOfTestCase(asked, v.At, known)
	r.Node = facts
	given := &q.Pods[0]
	if given.Source != "" {
		asked.Origin.Source = given.Source
	}
	if given.Kind != "" {
		r.Kind = given.Kind
	}
	x := &eval.Decision{Hook: v.Hook, Node: d.loader.Options.Node, Request: r, Names: eval.NamesOf(asked, d.loader.Options.Node)}
	return d.judge(ctx, x, true)
}

// readConnection reads the connection of a question.
func readConnection(v *spec.TestCase, file *Manifest) error {
	if file == nil {
		return nil
	}
	c := &api.Connection{}
	if err := yaml.UnmarshalStrict(file.Text, c); err != nil {
		return fmt.Errorf("%s: this is no connection, which has kind, source, container, command, ports, user and groups: %w", file.Path, err)
	}
	v.Connection = new(spec.TestConnection(*c))
	v.Connection.FillIn()
	var err error
	v.Connection.Check(func(key, format string, args ...any) {
		err = fmt.Errorf("%s: %s: %s", file.Path, key, fmt.Sprintf(format, args...))
	}, "connection")
	if err == nil && v.Hook != api.HookConnect {
		err = fmt.Errorf("%s: a connection is for the hook %s, not %s", file.Path, api.HookConnect, v.Hook)
	}
	return err
}

// judge asks the draft about one pod.
func (d *Draft) judge(ctx context.Context, x *eval.Decision, mutateAPI bool) (s eval.Result, err error) {
	ask := func(p *eval.Policy) (eval.Result, error) { return p.AskMatching(dryRun(ctx), x, mutateAPI) }
	if o, ok := d.policy.Excepted(x); ok && d.Group() {
		s = eval.ExceptedResult(o.Message)
	} else if d.Group() {
		s, err = d.policy.AskGroup(ask)
	} else {
		s, err = ask(d.policy)
	}
	return s.AfterCall(ctx, err)
}

// askMerge asks the draft which candidate wins.
func (d *Draft) askMerge(ctx context.Context, v *spec.TestCase, q *Question) (eval.Result, error) {
	if len(q.Pods) < 2 || len(q.Pods) > spec.MaxCandidates {
		return eval.Result{}, fmt.Errorf("the hook merge is about 2 to %d documents, found %d", spec.MaxCandidates, len(q.Pods))
	}
	for i := range q.Pods {
		m := &q.Pods[i]
		c := spec.TestCandidate{Pod: d.put(m), Source: m.Source, Kind: m.Kind, Running: i+1 == q.Running}
		if c.Source == "" {
			c.Source = spec.TestSource
		}
		if c.Kind == "" {
			c.Kind = api.KindFile
		}
		v.Candidates = append(v.Candidates, c)
	}
	pods, err := d.decode(v)
	if err != nil {
		return eval.Result{}, err
	}
	return d.choose(ctx, eval.ConflictOfTestCase(v, pods), d.loader.Options.Node)
}

// choose asks the draft about a conflict, if it matches.
func (d *Draft) choose(ctx context.Context, m *eval.Conflict, node string) (eval.Result, error) {
	asked, fuel, err := d.policy.WantsContest(ctx, m, node)
	if err == nil && !asked {
		return eval.NotMatching(fuel), nil
	}
	var s eval.Result
	if err == nil {
		s, err = d.policy.ChooseWinner(dryRun(ctx), m)
	}
	s.HostFuel += fuel
	return s.AfterCall(ctx, err)
}

// put adds a manifest to the files of tests and returns its path.
func (d *Draft) put(m *Manifest) (path string) {
	d.reading.Put(m.Path, m.Text)
	return m.Path
}

// AskAgain asks the draft the question of a decision on record, in the form in which the
// first policies saw it. The draft must have been loaded for the record's node. The error
// says what is missing or damaged, or is the error of ctx.
func (d *Draft) AskAgain(ctx context.Context, record *decisions.Record, of replay.Artifacts) (eval.Result, error) {
	if !slices.Contains(d.Hooks(), record.Hook) {
		return eval.Result{}, fmt.Errorf("the decision is about the hook %s, and the policy has %q", record.Hook, d.Hooks())
	}
	e := &replay.ArtifactReader{Of: of}
	if record.Hook == api.HookMerge {
		m := e.Conflict(record)
		if e.Err != nil {
			return eval.Result{}, e.Err
		}
		return d.choose(ctx, m, record.Node)
	}
	x := e.Decision(record)
	facts := e.Facts(record)
	if e.Err != nil {
		return eval.Result{}, e.Err
	}
	x.Request.Node = facts[record.Tenant]
	if all := facts[""]; all != nil {
		x.Request.Node = all
	}
	if d.readsNode() && x.Request.Node == nil {
		return eval.Result{}, errors.New("the policy reads the node, and no policy of that decision did: the record has no node facts")
	}
	known := e.SeenReferences(record)
	if e.Err != nil {
		return eval.Result{}, e.Err
	}
	var missing []api.Reference
	if x.Request.References, missing = eval.ReferencesOf(x.Request.Question.Pod, known); len(missing) > 0 && d.readsReferences() {
		return eval.Result{}, fmt.Errorf("the policy reads the %s %s, and no policy of that decision did: the record lacks it", missing[0].Kind, missing[0].Name)
	}
	return d.judge(ctx, x, record.MutateAPI)
}
