package policy

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

// vector is a test a policy brings along.
type vector struct {
	// Hook is what is tested, empty for the first of the policy's hooks.
	Hook string `toml:"hook"`
	// Pod is the path of a manifest of one pod, below the document's directory.
	// Old is what was admitted before, or what the agent acted on last, empty
	// where there is none; with the hook filter that is the same pod then.
	Pod string `toml:"pod"`
	Old string `toml:"old"`
	// Connection is, with the hook connect, the one that is requested.
	// Where there is none it is an exec of the first container.
	Connection *vectorConnection `toml:"connection"`
	// References are what is known of the objects that the pod names; none is there that is not among them.
	References []vectorReference `toml:"references"`
	// Candidates are, with the hook merge, the documents that claim one pod.
	Candidates []vectorCandidate `toml:"candidate"`
	// Time is that of the decision, in RFC 3339; empty for a fixed one.
	Time string `toml:"time"`
	// Expect is the answer the policy must give: one of its hook, or with merge the
	// path of the candidate that wins.
	Expect string `toml:"expect"`

	at time.Time
}

// vectorCandidate is a candidate of a test of the hook merge.
type vectorCandidate struct {
	// Pod is the path of its manifest, Source and Kind are its source's name and
	// kind. Running: this one runs.
	Pod     string `toml:"pod"`
	Source  string `toml:"source"`
	Kind    string `toml:"kind"`
	Running bool   `toml:"running"`
}

// vectorConnection is the connection of a test of the hook connect, with the fields of
// request.connection.
type vectorConnection struct {
	Kind      string   `toml:"kind"`
	Source    string   `toml:"source"`
	Container string   `toml:"container"`
	Command   []string `toml:"command"`
	Ports     []int32  `toml:"ports"`
	User      string   `toml:"user"`
	Groups    []string `toml:"groups"`
}

// vectorReference is an object that the pod of a test names, with the fields of request.references.
type vectorReference struct {
	Kind   string   `toml:"kind"`
	Name   string   `toml:"name"`
	Keys   []string `toml:"keys"`
	Digest string   `toml:"digest"`
}

// references are those of the test.
func (v *vector) references() (all []api.Reference) {
	for i := range v.References {
		r := &v.References[i]
		all = append(all, api.Reference{Kind: r.Kind, Name: r.Name, Keys: r.Keys, Digest: r.Digest})
	}
	return all
}

// check reports what cannot be of an object.
func (r *vectorReference) check(report strict.Report, key string) {
	oneOf(report, key+".kind", r.Kind, api.ConfigMapKind, api.SecretKind)
	if r.Name == "" {
		report(key+".name", "missing; name an object that the pod names")
	}
	if r.Digest == "" {
		report(key+".digest", "missing; leave the reference out for an object that is not there")
	}
}

// defaults fills in what is left out: who, from where and what kind.
func (c *vectorConnection) defaults() {
	c.Kind, c.Source, c.User = cmp.Or(c.Kind, api.ConnectExec), cmp.Or(c.Source, api.FromNodeAPI), cmp.Or(c.User, testUser)
}

// check reports what no request is.
func (c *vectorConnection) check(report strict.Report, key string) {
	oneOf(report, key+".kind", c.Kind, api.ConnectExec, api.ConnectAttach, api.ConnectPortForward)
	oneOf(report, key+".source", c.Source, api.FromNodeAPI, api.FromSocket)
}

// SetDefaults implements strict.Defaulter.
func (c *vectorCandidate) SetDefaults() { c.Kind = api.KindFile }

// expectations are the answers of each hook that a test may want.
var expectations = map[string][]string{
	api.HookAdmit:   {string(api.Allow), string(api.Deny), string(api.Hold), string(api.Abstain)},
	api.HookMerge:   {string(wasm.MergeKeep), string(wasm.MergeReject), string(wasm.MergeAbstain)},
	api.HookFilter:  {string(wasm.FilterPass), string(wasm.FilterDrop), string(wasm.FilterDefer), string(wasm.FilterAbstain)},
	api.HookConnect: {string(api.Allow), string(api.Deny), string(api.Abstain)},
}

// vectorFile is a file that a test needs, and the key that names it.
type vectorFile struct{ key, path string }

// files are those of the test at a key.
func (v *vector) files(key string) (files []vectorFile) {
	if v.Pod != "" {
		files = append(files, vectorFile{key + ".pod", v.Pod})
	}
	if v.Old != "" {
		files = append(files, vectorFile{key + ".old", v.Old})
	}
	for i := range v.Candidates {
		files = append(files, vectorFile{fmt.Sprintf("%s.candidate[%d].pod", key, i), v.Candidates[i].Pod})
	}
	return files
}

func (d *document) checkTests(report strict.Report) {
	if len(d.Tests) > maxTests {
		report("test", "%d tests, more than the %d a policy may have", len(d.Tests), maxTests)
		return
	}
	hooks := d.tested()
	for i := range d.Tests {
		v, key := &d.Tests[i], testKey(i)
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

// check reports what is wrong with a test of a hook that the policy has.
func (v *vector) check(report strict.Report, key string) {
	v.at = testTime
	if v.Time != "" {
		at, err := time.Parse(time.RFC3339, v.Time)
		if err != nil {
			report(key+".time", `want a time such as "2026-01-31T18:00:00Z", found %.80q`, v.Time)
		}
		v.at = at.UTC()
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
			v.Connection.defaults()
			v.Connection.check(report, key+".connection")
		}
	}
	if len(expected) > 0 { // else the hook is at fault, and was reported
		oneOf(report, key+".expect", v.Expect, expected...)
	}
}

// checkCandidates checks what a test of the hook merge has, and gives what it
// may expect.
func (v *vector) checkCandidates(report strict.Report, key string) (expected []string) {
	expected = expectations[api.HookMerge]
	if len(v.References) > 0 {
		report(key+".references", "a conflict shows no references")
	}
	if v.Pod != "" || v.Old != "" {
		report(key, "a test of the hook merge has candidates instead of a pod")
	}
	if n := len(v.Candidates); n < 2 || n > maxCandidates {
		report(key, "want 2 to %d candidates ([[test.candidate]]), found %d", maxCandidates, n)
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

// testSource is the source of the pods of tests.
const testSource = "test"

// testTime is the time of their decisions, always the same: a set that was
// good yesterday is good today.
var testTime = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// testUser requests the connections of tests that name no user.
const testUser = "test"

func testKey(i int) string { return fmt.Sprintf("test[%d]", i) }

// about names the pods of a test.
func (v *vector) about() string {
	if v.Hook != api.HookMerge {
		return v.Pod
	}
	names := make([]string, len(v.Candidates))
	for i := range v.Candidates {
		names[i] = v.Candidates[i].Pod
	}
	return strings.Join(names, ", ")
}

// connection is that of a test about a pod.
func (v *vector) connection(p *v1.Pod) *api.Connection {
	c := vectorConnection{}
	if v.Connection != nil {
		c = *v.Connection
	}
	c.defaults()
	if c.Container == "" && c.Kind != api.ConnectPortForward && len(p.Spec.Containers) > 0 {
		c.Container = p.Spec.Containers[0].Name
	}
	return new(api.Connection(c))
}
