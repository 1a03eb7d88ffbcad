package rollout

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

func TestADecisionEndsOnTheSetItBeganOn(t *testing.T) {
	t.Parallel()
	d, s := policytest.NewTree(t), policytest.NewScripts()
	d.Policy("kept", "allow")
	d.Policy("replaced", "allow")
	first, err := loadWhole(t, d, s, nil)
	policytest.Must(t, err)
	d.Policy("replaced", "deny")
	second, err := loadWhole(t, d, s, first)
	policytest.Must(t, err)

	in := &activeSet{dir: d.Dir}
	in.put(first, nil, policytest.Instant)
	used, _ := in.use()
	in.put(second, nil, policytest.Instant)
	if diff := cmp.Diff([]string{"kept", "replaced", "replaced"}, s.InUse()); diff != "" {
		t.Errorf("loaded while a decision is under way (-want +got):\n%s", diff)
	}
	if v := eval.Judge(t.Context(), []*eval.Set{used.Eval}, decisionFor(policytest.Question("web")), api.Allow); v.Answer != api.Allow {
		t.Errorf("verdict %+v, want that of the first set", v)
	}
	used.Release()
	if diff := cmp.Diff([]string{"kept", "replaced"}, s.InUse()); diff != "" {
		t.Errorf("loaded after it (-want +got):\n%s", diff)
	}
	in.put(nil, nil, policytest.Instant)
	if diff := cmp.Diff([]string{}, s.InUse()); diff != "" {
		t.Errorf("loaded at the end (-want +got):\n%s", diff)
	}
}

func TestTheStateOfASet(t *testing.T) {
	t.Parallel()
	d, s := policytest.NewTree(t), policytest.NewScripts()
	d.Policy("p", "allow")
	first, err := loadWhole(t, d, s, nil)
	policytest.Must(t, err)
	at := func(seconds int) time.Time { return policytest.Instant.Add(time.Duration(seconds) * time.Second) }
	in := &activeSet{dir: d.Dir}
	check := func(step string, want api.PolicySet, policies int) {
		t.Helper()
		got := in.show()
		if len(got.Policies) != policies {
			t.Errorf("%s: %d policies, want %d", step, len(got.Policies), policies)
		}
		want.Directory, want.Policies = d.Dir, got.Policies
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step, diff)
		}
	}
	check("before anything", api.PolicySet{}, 0)
	if !in.refuse(errors.New("one"), at(1)) || in.refuse(errors.New("one"), at(2)) {
		t.Error("a refusal is news once")
	}
	check("refused at the start", api.PolicySet{Refused: "one", RefusedAt: at(1)}, 0)
	if _, reason := in.use(); reason == nil || reason.Error() != "one" {
		t.Errorf("reason %v", reason)
	}
	in.put(first, nil, at(3))
	good := api.PolicySet{Ready: true, Digest: first.Eval.Digest, Generation: 1, Loaded: at(3)}
	check("in force", good, 1)
	if in.refuse(nil, at(4)) {
		t.Error("it is news that what is in force is in force")
	}
	if !in.refuse(errors.New("two"), at(5)) || !in.refuse(errors.New("three"), at(6)) {
		t.Error("another refusal is no news")
	}
	refused := good
	refused.Refused, refused.RefusedAt = "three", at(6)
	check("refused beside one in force", refused, 1)
	if !in.refuse(nil, at(7)) {
		t.Error("the end of a refusal is no news")
	}
	check("in force again", good, 1)
	first.Eval.Users.Add(1)
	in.put(first, nil, at(8))
	good.Generation, good.Loaded = 2, at(8)
	check("the second in force", good, 1)
}

// TestASetThatComesIntoForceInsteadOfTheDirectorysSaysWhy checks that the set in force never
// differs from the directory's without a reason.
func TestASetThatComesIntoForceInsteadOfTheDirectorysSaysWhy(t *testing.T) {
	t.Parallel()
	in := &activeSet{dir: "DIR"}
	in.put(&Set{Eval: eval.NewSet("before", nil)}, errors.New("rolled back"), policytest.Instant)
	if got := in.show(); !got.Ready || got.Refused != "rolled back" || !got.RefusedAt.Equal(policytest.Instant) {
		t.Errorf("set %+v", got)
	}
	if in.refuse(errors.New("rolled back"), policytest.Instant.Add(time.Second)) {
		t.Error("that it is refused is news again")
	}
}
