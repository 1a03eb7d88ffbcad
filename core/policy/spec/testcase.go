package spec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/strict"
)

// TestCase is a [[test]] of a policy.
type TestCase struct {
	// Hook is the hook that is tested, empty for the first of the policy's hooks.
	Hook string `toml:"hook"`
	// Pod is the path of a manifest of one pod, below the document's directory. Old is the
	// path of the version that was admitted before, or that the agent acted on last. If it
	// is empty, there is no old version; the hook filter then sees Pod as both.
	Pod string `toml:"pod"`
	Old string `toml:"old"`
	// Connection is the connection that the hook connect is asked about. Nil stands for an
	// exec in the first container.
	Connection *TestConnection `toml:"connection"`
	// References are the existing ConfigMaps and Secrets among those that the pod names.
	References []TestReference `toml:"references"`
	// Candidates are the documents that claim one pod, for the hook merge.
	Candidates []TestCandidate `toml:"candidate"`
	// Time is the time of the decision, in RFC 3339; empty for TestTime.
	Time string `toml:"time"`
	// Expect is the answer that the policy must return: an answer of the hook or, for
	// merge, the path of the candidate that wins.
	Expect string `toml:"expect"`

	At time.Time
}

// TestCandidate is a candidate of a test of the hook merge.
type TestCandidate struct {
	// Pod is the path of the candidate's manifest. Source and Kind are the name and kind of
	// its source. Running reports that this candidate runs.
	Pod     string `toml:"pod"`
	Source  string `toml:"source"`
	Kind    string `toml:"kind"`
	Running bool   `toml:"running"`
}

// TestConnection is the connection of a test of the hook connect, with the fields of
// request.connection.
type TestConnection struct {
	Kind      string   `toml:"kind"`
	Source    string   `toml:"source"`
	Container string   `toml:"container"`
	Command   []string `toml:"command"`
	Ports     []int32  `toml:"ports"`
	User      string   `toml:"user"`
	Groups    []string `toml:"groups"`
}

// TestReference is an object that the pod of a test names, with the fields of
// request.references.
type TestReference struct {
	Kind   string   `toml:"kind"`
	Name   string   `toml:"name"`
	Keys   []string `toml:"keys"`
	Digest string   `toml:"digest"`
}

// KnownReferences returns the references of the test.
func (v *TestCase) KnownReferences() (all []api.Reference) {
	for i := range v.References {
		r := &v.References[i]
		all = append(all, api.Reference{Kind: r.Kind, Name: r.Name, Keys: r.Keys, Digest: r.Digest})
	}
	return all
}

// check reports values that no ConfigMap or Secret can have.
func (r *TestReference) check(report strict.Report, key string) {
	oneOf(report, key+".kind", r.Kind, api.ConfigMapKind, api.SecretKind)
	if r.Name == "" {
		report(key+".name", "missing; name an object that the pod names")
	}
	if r.Digest == "" {
		report(key+".digest", "missing; leave the reference out for an object that is not there")
	}
}

// FillIn sets user, source and kind if the document leaves them out.
func (c *TestConnection) FillIn() {
	c.Kind, c.Source, c.User = cmp.Or(c.Kind, api.ConnectExec), cmp.Or(c.Source, api.FromNodeAPI), cmp.Or(c.User, testUser)
}

// Check reports values that no request can have.
func (c *TestConnection) Check(report strict.Report, key string) {
	oneOf(report, key+".kind", c.Kind, api.ConnectExec, api.ConnectAttach, api.ConnectPortForward)
	oneOf(report, key+".source", c.Source, api.FromNodeAPI, api.FromSocket)
}

// SetDefaults implements strict.Defaulter.
func (c *TestCandidate) SetDefaults() { c.Kind = api.KindFile }

// expectations are the answers that a test may expect, by hook.
var expectations = map[string][]string{
	api.HookAdmit:   {string(api.Allow), string(api.Deny), string(api.Hold), string(api.Abstain)},
	api.HookMerge:   {string(wasm.MergeKeep), string(wasm.MergeReject), string(wasm.MergeAbstain)},
	api.HookFilter:  {string(wasm.FilterPass), string(wasm.FilterDrop), string(wasm.FilterDefer), string(wasm.FilterAbstain)},
	api.HookConnect: {string(api.Allow), string(api.Deny), string(api.Abstain)},
}

// TestFile is a file that a test reads, and the key that names it.
type TestFile struct{ Key, Path string }

// Files returns the files of the test. key is the path of the test in the document.
func (v *TestCase) Files(key string) (files []TestFile) {
	if v.Pod != "" {
		files = append(files, TestFile{key + ".pod", v.Pod})
	}
	if v.Old != "" {
		files = append(files, TestFile{key + ".old", v.Old})
	}
	for i := range v.Candidates {
		files = append(files, TestFile{fmt.Sprintf("%s.candidate[%d].pod", key, i), v.Candidates[i].Pod})
	}
	return files
}

func (d *Document) checkTests(report strict.Report) {
	if len(d.Tests) > maxTests {
		report("test", "%d tests, more than the %d a policy may have", len(d.Tests), maxTests)
		return
	}
	hooks := d.TestHooks()
	for i := range d.Tests {
		v, key := &d.Tests[i], KeyOfTest(i)
		if v.Hook == "" && len(hooks) > 0 {
			v.Hook = hooks[0]
		}
		if !slices.Contains(hooks, v.Hook) {
			if len(hooks) > 0 {
				oneOf(report, key+".hook", v.Hook, hooks...)
			}
			continue
		}
		v.check(report, key)
	}
}

// check reports the faults of a test of a hook that the policy has.
func (v *TestCase) check(report strict.Report, key string) {
	v.At = TestTime
	if v.Time != "" {
		at, err := time.Parse(time.RFC3339, v.Time)
		if err != nil {
			report(key+".time", `want a time such as "2026-01-31T18:00:00Z", found %.80q`, v.Time)
		}
		v.At = at.UTC()
	}
	expected := expectations[v.Hook]
	if v.Hook == api.HookMerge {
		expected = v.checkCandidates(report, key)
	} else {
		checkPath(report, key+".pod", v.Pod)
		if v.Old != "" {
			checkPath(report, key+".old", v.Old)
		}
		if len(v.Candidates) > 0 {
			report(key+".candidate", "candidates are for the hook merge")
		}
		for i := range v.References {
			v.References[i].check(report, fmt.Sprintf("%s.references[%d]", key, i))
		}
		switch {
		case v.Connection == nil:
		case v.Hook != api.HookConnect:
			report(key+".connection", "a connection is for the hook connect")
		default:
			v.Connection.FillIn()
			v.Connection.Check(report, key+".connection")
		}
	}
	if len(expected) > 0 { // otherwise the hook was reported as wrong
		oneOf(report, key+".expect", v.Expect, expected...)
	}
}

// checkCandidates checks a test of the hook merge and returns the answers that it
// may expect.
func (v *TestCase) checkCandidates(report strict.Report, key string) (expected []string) {
	expected = expectations[api.HookMerge]
	if len(v.References) > 0 {
		report(key+".references", "a conflict shows no references")
	}
	if v.Pod != "" || v.Old != "" {
		report(key, "a test of the hook merge has candidates instead of a pod")
	}
	if n := len(v.Candidates); n < 2 || n > MaxCandidates {
		report(key, "want 2 to %d candidates ([[test.candidate]]), found %d", MaxCandidates, n)
	}
	for i := range v.Candidates {
		c, at := &v.Candidates[i], fmt.Sprintf("%s.candidate[%d]", key, i)
		checkPath(report, at+".pod", c.Pod)
		oneOf(report, at+".kind", c.Kind, api.KindFile, api.KindHTTP, api.KindAPI)
		if c.Source == "" {
			report(at+".source", "missing; name the source of the document")
		}
		expected = append(slices.Clone(expected), c.Pod)
	}
	return expected
}

// TestSource is the source of the pods of tests.
const TestSource = "test"

// TestTime is the time of decisions in tests. It is always the same, so that a set that was
// valid yesterday is valid today.
var TestTime = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// testUser is the user of connections of tests that name none.
const testUser = "test"

// KeyOfTest returns the path of a test in the document.
func KeyOfTest(i int) string { return fmt.Sprintf("test[%d]", i) }

// About returns the names of the pods of a test.
func (v *TestCase) About() string {
	if v.Hook != api.HookMerge {
		return v.Pod
	}
	names := make([]string, len(v.Candidates))
	for i := range v.Candidates {
		names[i] = v.Candidates[i].Pod
	}
	return strings.Join(names, ", ")
}

// ConnectionTo returns the connection of a test to a pod.
func (v *TestCase) ConnectionTo(p *v1.Pod) *api.Connection {
	c := TestConnection{}
	if v.Connection != nil {
		c = *v.Connection
	}
	c.FillIn()
	if c.Container == "" && c.Kind != api.ConnectPortForward && len(p.Spec.Containers) > 0 {
		c.Container = p.Spec.Containers[0].Name
	}
	return new(api.Connection(c))
}
