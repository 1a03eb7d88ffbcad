//go:build !wasip1

package sdktest

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
	"github.com/wardlet/wardlet/plugins/sdk/internal/host"
	"github.com/wardlet/wardlet/plugins/sdk/sdktest/internal/projection"
)

// one is locked while a plugin runs, because a process can run only one plugin at a time.
var one sync.Mutex

// Policy is the plugin, loaded with the settings of a policy document.
type Policy struct {
	settings map[string]any
	may      map[Capability]bool
}

// Capability is a permission that a policy document has for its plugin.
type Capability string

// The capabilities.
const (
	// NodeRead lets the plugin see facts about the node.
	NodeRead Capability = "node.read"
	// ReferencesRead lets the plugin see facts about the ConfigMaps and Secrets that the
	// pod names.
	ReferencesRead Capability = "references.read"
)

// Load loads the plugin as the agent does. The test fails if the plugin refuses its
// settings, or if the agent would refuse one of its fields. Settings are strings, bools,
// ints, floats, times, and slices and maps (with string keys) of these.
func Load(tb testing.TB, settings map[string]any, capabilities ...Capability) *Policy {
	tb.Helper()
	p, err := load(settings, capabilities)
	if err != nil {
		tb.Fatalf("the plugin cannot be loaded: %v", err)
	}
	return p
}

// LoadError loads the plugin with settings that it must refuse, and returns the reason. The
// test fails if the plugin does not refuse them.
func LoadError(tb testing.TB, settings map[string]any, capabilities ...Capability) string {
	tb.Helper()
	_, err := load(settings, capabilities)
	if err == nil {
		tb.Fatal("the plugin was loaded: its settings should have been refused")
	}
	return err.Error()
}

func load(settings map[string]any, capabilities []Capability) (*Policy, error) {
	plain, err := plainTable("settings", settings)
	if err != nil {
		return nil, err
	}
	p := &Policy{settings: plain, may: map[Capability]bool{}}
	for _, c := range capabilities {
		if c != NodeRead && c != ReferencesRead {
			return nil, errors.New("there is no capability " + strconv.Quote(string(c)))
		}
		p.may[c] = true
	}
	one.Lock()
	defer one.Unlock()
	_, done, err := p.begin()
	done()
	return p, err
}

// begin installs a new agent and runs the setup of the plugin. The caller holds the lock,
// and calls done when it does not need the agent any more.
func (p *Policy) begin() (a *agent, done func(), err error) {
	a = &agent{settings: p.settings, projection: projection.Projection{NodeRead: p.may[NodeRead], ReferencesRead: p.may[ReferencesRead]}}
	host.Use(a)
	return a, func() { host.Use(nil) }, a.load()
}

// Admit asks the policy about a pod. The test fails if the agent could not send such a
// request, or if the plugin breaks a rule that the agent does not enforce.
func (p *Policy) Admit(tb testing.TB, r Request) Result {
	tb.Helper()
	return p.judge(tb, hookAdmit, &r)
}

// Filter asks the policy about a change of a pod. Old and Pod are two versions of the pod,
// or a pod and the pod that replaces it. Without Old, Pod is a new pod that does not run
// yet. The test fails in the same cases as with Admit.
func (p *Policy) Filter(tb testing.TB, r Request) Result {
	tb.Helper()
	return p.judge(tb, hookFilter, &r)
}

// Connect asks the policy about a connection to a pod, the Connection of the request. The
// test fails in the same cases as with Admit.
func (p *Policy) Connect(tb testing.TB, r Request) Result {
	tb.Helper()
	return p.judge(tb, hookConnect, &r)
}

func (p *Policy) judge(tb testing.TB, hook string, r *Request) Result {
	tb.Helper()
	if !p.may[ReferencesRead] {
		r.References = nil
	}
	question, err := r.question(hook)
	return p.result(tb, hook, question, err)
}

// Merge asks the policy which candidate wins. The test fails in the same cases as with
// Admit.
func (p *Policy) Merge(tb testing.TB, r MergeRequest) Result {
	tb.Helper()
	question, err := r.question()
	return p.result(tb, hookMerge, question, err)
}

func (p *Policy) result(tb testing.TB, hook string, q *projection.Question, err error) Result {
	tb.Helper()
	if err != nil {
		tb.Fatalf("the request cannot be sent: %v", err)
	}
	result, err := p.ask(hook, q)
	if err != nil {
		tb.Fatal(err)
	}
	if code := result.Code; strings.Trim(code, camelCase) != "" || code != "" && strings.ToUpper(code[:1]) != code[:1] {
		tb.Errorf("the reason's code is %q: want one word in CamelCase", code)
	}
	return result
}

const camelCase = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

func (p *Policy) ask(hook string, q *projection.Question) (Result, error) {
	one.Lock()
	defer one.Unlock()
	agent, done, err := p.begin()
	defer done()
	if err != nil {
		return Result{}, err
	}
	record, err := agent.projection.Record(q)
	switch {
	case err != nil:
		return Result{}, err
	case functions(hook) == nil:
		return Result{}, errors.New("the plugin does not import package " + hook + ": it has no such hook")
	case !guest.Fill(record):
		return failure(inputTooLarge, "the fields of this pod take more than the plugin has room for"), nil
	}
	return agent.ask(hook, q), nil
}

// BenchmarkAdmit asks the policy about a pod in each iteration of a benchmark. It measures
// the policy and the SDK, without the work of the agent and without WebAssembly.
func (p *Policy) BenchmarkAdmit(b *testing.B, r Request) {
	b.Helper()
	question, err := r.question(hookAdmit)
	p.benchmark(b, hookAdmit, question, err)
}

// BenchmarkMerge does what BenchmarkAdmit does, for the hook merge.
func (p *Policy) BenchmarkMerge(b *testing.B, r MergeRequest) {
	b.Helper()
	question, err := r.question()
	p.benchmark(b, hookMerge, question, err)
}

// BenchmarkFilter does what BenchmarkAdmit does, for the hook filter.
func (p *Policy) BenchmarkFilter(b *testing.B, r Request) {
	b.Helper()
	question, err := r.question(hookFilter)
	p.benchmark(b, hookFilter, question, err)
}

// BenchmarkConnect does what BenchmarkAdmit does, for the hook connect.
func (p *Policy) BenchmarkConnect(b *testing.B, r Request) {
	b.Helper()
	question, err := r.question(hookConnect)
	p.benchmark(b, hookConnect, question, err)
}

func (p *Policy) benchmark(b *testing.B, hook string, q *projection.Question, err error) {
	b.Helper()
	if err != nil {
		b.Fatalf("the request cannot be sent: %v", err)
	}
	if _, err := p.ask(hook, q); err != nil {
		b.Fatal(err)
	}
	one.Lock()
	defer one.Unlock()
	agent, done, err := p.begin()
	defer done()
	if err != nil {
		b.Fatal(err)
	}
	record, err := agent.projection.Record(q)
	if err != nil || !guest.Fill(record) {
		b.Fatalf("the fields cannot be sent: %v", err)
	}
	agent.hook, agent.question = hook, q
	host.Use(&deaf{agent})
	ask := functions(hook)
	b.ReportAllocs()
	for b.Loop() {
		ask()
	}
}

// deaf is an agent that ignores what the plugin hands over.
type deaf struct{ *agent }

func (*deaf) Reason(_, _ string)   {}
func (*deaf) Warn(string)          {}
func (*deaf) Annotate(_, _ string) {}
func (*deaf) Explain(string)       {}
func (*deaf) RetryAfter(int64)     {}
func (*deaf) Patch(string)         {}
func (*deaf) Log(int32, string)    {}
