package author

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/spec"
)

// DraftTest is a [[test]] of a draft.
type DraftTest struct {
	// Name is unique in the document and valid as a file name. It is made from the names of
	// the test's pods, with a number if several tests have the same.
	Name, Hook, Expect string

	number int
}

// Tests returns the tests of the document, in its order.
func (d *Draft) Tests() []DraftTest {
	tests := make([]DraftTest, len(d.policy.Tests))
	taken := map[string]bool{}
	for i := range d.policy.Tests {
		v := &d.policy.Tests[i]
		base := testName(v)
		name := base
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		taken[name] = true
		tests[i] = DraftTest{Name: name, Hook: v.Hook, Expect: v.Expect, number: i}
	}
	return tests
}

// testName returns the name of a test: the names of its pods' files, without directories
// and extensions.
func testName(v *spec.TestCase) string {
	paths := []string{v.Pod}
	if v.Hook == api.HookMerge {
		paths = paths[:0]
		for i := range v.Candidates {
			paths = append(paths, v.Candidates[i].Pod)
		}
	}
	for i, p := range paths {
		paths[i] = strings.Map(func(r rune) rune {
			if strings.ContainsRune("-_.", r) || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
				return r
			}
			return '-'
		}, strings.TrimSuffix(path.Base(p), path.Ext(p)))
	}
	return strings.Join(paths, "+")
}

// Test runs a test. fault says, with file and line, how the result differs from the
// expected one; it is empty if the test passed. The error is the error of ctx.
func (d *Draft) Test(ctx context.Context, t DraftTest) (s eval.Result, fault string, err error) {
	v, key := &d.policy.Tests[t.number], spec.KeyOfTest(t.number)
	pods, fault := d.pods(v, key)
	if fault != "" {
		return eval.Result{}, fault, nil
	}
	s, err = d.policy.AskTest(dryRun(ctx), v, pods)
	if ctx.Err() != nil {
		return s, "", context.Cause(ctx)
	}
	got, _ := s.Mismatch(v, err)
	if err != nil {
		s.SetFailure(err)
	}
	if got != "" {
		fault = d.fault(key+".expect", "%s: want %s, got %s", v.About(), v.Expect, got)
	}
	return s, fault, nil
}

// Call asks a prepared question, as often as it is called. Its error is the error of ctx,
// or a *abi.Failure if the plugin returned no answer.
type Call func(ctx context.Context) (eval.Result, error)

// Prepare returns a Call for a test. The error says what is wrong with the test's pods.
func (d *Draft) Prepare(t DraftTest) (Call, error) {
	v := &d.policy.Tests[t.number]
	pods, fault := d.pods(v, spec.KeyOfTest(t.number))
	if fault != "" {
		return nil, errors.New(fault)
	}
	return func(ctx context.Context) (eval.Result, error) { return d.policy.AskTest(ctx, v, pods) }, nil
}

// PreparePod returns a Call for the question whether the pod of a file may run or, for the
// hook filter, whether it may change.
func (d *Draft) PreparePod(m *Manifest) (Call, error) {
	v := &spec.TestCase{Hook: d.Hooks()[0], Pod: d.put(m), At: spec.TestTime}
	if v.Hook == api.HookMerge {
		return nil, errors.New("the hook merge is about several documents: measure the tests of the policy")
	}
	pods, err := d.decode(v)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (eval.Result, error) { return d.policy.AskTest(ctx, v, pods) }, nil
}

// Fault returns a fault of a test, with file and line.
func (d *Draft) Fault(t DraftTest, text string) string {
	return d.fault(spec.KeyOfTest(t.number), "%s", text)
}

// pods returns the pods of a test, or the fault of one of them.
func (d *Draft) pods(v *spec.TestCase, key string) (pods map[string]*v1.Pod, fault string) {
	known := len(d.policy.Complaints)
	pods, ok := d.loader.PodsOfTest(d.reading, d.policy, v, key)
	if ok {
		return pods, ""
	}
	wrong := d.policy.Complaints[known]
	d.policy.Complaints = slices.Clip(d.policy.Complaints[:known])
	return nil, d.fault(wrong.Key, "%s", wrong.Message)
}

// decode returns the pods of a question.
func (d *Draft) decode(v *spec.TestCase) (map[string]*v1.Pod, error) {
	pods := map[string]*v1.Pod{}
	for _, f := range v.Files("") {
		p, err := eval.PodOfTest(d.reading, f.Path, d.loader.Options.Node)
		if err != nil {
			return nil, err
		}
		pods[f.Path] = p
	}
	return pods, nil
}
