package eval

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// ownersSet loads an owner's policies. documents has scripts and further keys by policy name.
func ownersSet(t *testing.T, s *policytest.Scripts, tenant string, documents map[string]string) *Set {
	t.Helper()
	d := policytest.NewTree(t)
	for name, text := range documents {
		script, keys, _ := strings.Cut(text, "\n")
		d.Policy(name, script, keys)
	}
	got, err := loadFor(t, d, s, nil, tenant, slog.New(slog.DiscardHandler))
	policytest.Must(t, err)
	t.Cleanup(got.Release)
	return got
}

func TestPoliciesThatChangePodsComeFirstAndTheOthersSeeWhatTheyMade(t *testing.T) {
	t.Parallel()
	s := policytest.Patching(map[string]string{
		"t2": policytest.ToImage("tenants"), "t9": policytest.ToLabel("a", "t"), "o1": policytest.ToLabel("a", "o"), "o5": policytest.ToImage("operators"),
	})
	tenants := ownersSet(t, s, "a", map[string]string{
		"t1": "allow\npriority = 0", "t9": "allow\npriority = 9\n" + policytest.LabelsPath, "t2": "allow\npriority = 10\n" + policytest.ImagePath,
	})
	operators := ownersSet(t, s, "", map[string]string{
		"o5": "allow\npriority = 5\n" + policytest.ImagePath, "o1": "allow\npriority = 1\n" + policytest.LabelsPath, "o0": "allow\npriority = 0",
	})
	q := policytest.FileQuestion(t)
	was := q.Pod.DeepCopy()
	d := deciding(q)
	v := Judge(t.Context(), []*Set{tenants, operators}, d, api.Allow)
	name := " " + q.Pod.Name
	calls := []string{"t9" + name, "t2" + name, "o1" + name, "o5" + name, "t1" + name, "o0" + name}
	if diff := cmp.Diff(calls, s.Calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	for policy, want := range map[string]string{
		"t9": "img map[tier:web] []", "t2": "img map[a:t tier:web] []", "o1": "tenants map[a:t tier:web] []",
		"o5": "tenants map[a:o tier:web] []", "t1": "operators map[a:o tier:web] []", "o0": "operators map[a:o tier:web] []",
	} {
		if got := s.Saw(policy); got != want {
			t.Errorf("%s was asked about %s, want %s", policy, got, want)
		}
	}
	want := []pod.Mutator{
		{Policy: "t9", Tenant: "a", Changed: []string{"/metadata/labels/a"}},
		{Policy: "t2", Tenant: "a", Changed: []string{"/spec/containers/0/image"}},
		{Policy: "o1", Changed: []string{"/metadata/labels/a"}},
		{Policy: "o5", Changed: []string{"/spec/containers/0/image"}},
	}
	m := v.Mutation
	if m == nil {
		t.Fatalf("verdict %+v", v)
	}
	if diff := cmp.Diff(want, m.By); diff != "" {
		t.Errorf("changed by (-want +got):\n%s", diff)
	}
	if m.Final.Spec.Containers[0].Image != "operators" || m.Final.Labels["a"] != "o" {
		t.Errorf("final pod %+v", m.Final)
	}
	if hash, err := pod.FinalHash(m.Final); err != nil || hash != m.FinalHash {
		t.Errorf("hash %s, want %s, %v", m.FinalHash, hash, err)
	}
	if diff := cmp.Diff(was, q.Pod); diff != "" || d.Request.Question.Pod != q.Pod {
		t.Errorf("the source's pod (-want +got):\n%s", diff)
	}
	for i := range v.Opinions {
		o := &v.Opinions[i]
		if patched := o.Patch != ""; patched != (i < 4) || patched && o.Fuel < PatchFuel+7 {
			t.Errorf("opinion %+v", o)
		}
	}
}

func TestOnlyAPodThatIsLetThroughIsChanged(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]bool{"allow": true, "abstain": true, "deny No no": false, "hold": false, "trap x": false, "deny No no\nmode = \"warn\"": true} {
		s := policytest.Patching(map[string]string{"p0": policytest.ToImage("other")})
		loaded := loadScripts(t, s, "allow\n"+policytest.ImagePath, script)
		v := Judge(t.Context(), []*Set{loaded}, deciding(policytest.FileQuestion(t)), api.Allow)
		if got := v.Mutation != nil; got != want {
			t.Errorf("%q: verdict %+v", script, v)
		}
		if got := s.Saw("p1"); got != "other map[tier:web] []" {
			t.Errorf("%q is asked about %s", script, got)
		}
	}
}

func TestAPatchThatDoesNotFitOrReachesTooFarIsAFailureOfThePlugin(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ keys, patch, want string }{
		"beyond its paths": {policytest.LabelsPath, policytest.ToImage("x"), `it changes "/spec/containers/0/image"; the policy may change only /metadata/labels`},
		"of a policy that may change nothing": {
			"", policytest.ToImage("x"), `the policy may change nothing, its mutable_paths are empty`,
		},
		"what no policy may change": {
			policytest.LabelsPath, policytest.ToLabel("wardlet.dev~1x", "y"), "what begins with wardlet.dev/ is the agent's own",
		},
		"the pod's identity": {
			policytest.ImagePath, `[{"op":"replace","path":"/metadata/namespace","value":"other"}]`, "it is the pod's identity",
		},
		"that does not fit": {policytest.ImagePath, `[{"op":"replace","path":"/spec/containers/9/image","value":"x"}]`, "the patch cannot be applied"},
		"that makes no valid pod": {
			policytest.ImagePath, policytest.ToImage(""), "what it makes of the pod is not valid",
		},
		"whose test fails":    {policytest.ImagePath, `[{"op":"test","path":"/kind","value":"Job"}]`, "the patch cannot be applied"},
		"that is no patch":    {policytest.ImagePath, `{}`, "the patch cannot be applied"},
		"that copies a field": {policytest.ImagePath, `[{"op":"copy","from":"/metadata/name","path":"/metadata/labels/x"}]`, "the patch cannot be applied"},
	} {
		for onError, answer := range map[string]api.Answer{"hold": api.Hold, "deny": api.Deny, "allow": api.Allow, "last_verdict": api.Hold} {
			t.Run(name+", on_error "+onError, func(t *testing.T) {
				t.Parallel()
				s := policytest.Patching(map[string]string{"p0": test.patch})
				loaded := loadScripts(t, s, "allow\non_error = \""+onError+"\"\n"+test.keys, "allow")
				v := Judge(t.Context(), []*Set{loaded}, deciding(policytest.FileQuestion(t)), api.Allow)
				o := v.Opinions[0]
				if v.Answer != answer || v.Mutation != nil || o.Failure != string(abi.BadOutput) || !strings.Contains(o.Message, test.want) {
					t.Errorf("verdict %+v", v)
				}
				if o.Patch != test.patch || o.Fuel < PatchFuel+7 {
					t.Errorf("opinion %+v", o)
				}
				if got := s.Saw("p1"); got != "img map[tier:web] []" {
					t.Errorf("the next one is asked about %s", got)
				}
				if n := loaded.Policies[0].Counters.failed.Load(); n != 1 {
					t.Errorf("%d failures are counted", n)
				}
			})
		}
	}
}

func TestPluginsWhosePatchesFailAreGivenABreak(t *testing.T) {
	t.Parallel()
	s := policytest.Patching(map[string]string{"p0": policytest.ToImage("x")})
	loaded := loadScripts(t, s, "allow\n"+policytest.LabelsPath)
	for range BreakAfter + 3 {
		Judge(t.Context(), []*Set{loaded}, deciding(policytest.FileQuestion(t)), api.Allow)
	}
	if n := len(s.Calls()); n != BreakAfter {
		t.Errorf("%d calls, want %d", n, BreakAfter)
	}
}

func TestPoliciesOfOtherModesChangeNothingAndTheirPatchIsOnRecord(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{spec.ModeWarn, spec.ModeAudit} {
		s := policytest.Patching(map[string]string{"p0": policytest.ToImage("x")})
		loaded := loadScripts(t, s, "allow\n"+policytest.ImagePath+"\nmode = \""+mode+"\"", "allow\n"+policytest.LabelsPath, "allow")
		v := Judge(t.Context(), []*Set{loaded}, deciding(policytest.FileQuestion(t)), api.Allow)
		if o := v.Opinions[0]; v.Mutation != nil || o.Patch != policytest.ToImage("x") || o.Failure != "" || o.Answer != api.Allow {
			t.Errorf("%s: verdict %+v", mode, v)
		}
		for _, next := range []string{"p1", "p2"} {
			if got := s.Saw(next); got != "img map[tier:web] []" {
				t.Errorf("%s: %s is asked about %s", mode, next, got)
			}
		}
		reaching := policytest.Patching(map[string]string{"p0": policytest.ToImage("x")})
		loaded = loadScripts(t, reaching, "allow\n"+policytest.LabelsPath+"\nmode = \""+mode+"\"")
		v = Judge(t.Context(), []*Set{loaded}, deciding(policytest.FileQuestion(t)), api.Allow)
		if o := v.Opinions[0]; v.Answer != api.Allow || o.Failure != string(abi.BadOutput) {
			t.Errorf("%s: a patch that reaches too far: %+v", mode, v)
		}
	}
}

func TestAPatchThatChangesNothingIsNoChange(t *testing.T) {
	t.Parallel()
	s := policytest.Patching(map[string]string{"p0": `[{"op":"test","path":"/kind","value":"Pod"}]`})
	for _, keys := range []string{"", policytest.ImagePath} {
		v := Judge(t.Context(), []*Set{loadScripts(t, s, "allow\n"+keys)}, deciding(policytest.FileQuestion(t)), api.Allow)
		if v.Mutation != nil || v.Opinions[0].Failure != "" || v.Answer != api.Allow {
			t.Errorf("%q: verdict %+v", keys, v)
		}
	}
}

func TestAPatchOnRecordIsCut(t *testing.T) {
	t.Parallel()
	long := policytest.ToLabel("a", strings.Repeat("ä", api.MaxShownPatch))
	s := policytest.Patching(map[string]string{"p0": long})
	v := Judge(t.Context(), []*Set{loadScripts(t, s, "allow\n"+policytest.LabelsPath+"\non_error = \"allow\"")}, deciding(policytest.FileQuestion(t)), api.Allow)
	if o := v.Opinions[0]; len(o.Patch) > api.MaxShownPatch+len("…") || !strings.HasPrefix(long, strings.TrimSuffix(o.Patch, "…")) {
		t.Errorf("%d bytes: %.40s", len(o.Patch), o.Patch)
	}
}

func TestMatchesAndConditionsAreAboutThePodAsItIsByThen(t *testing.T) {
	t.Parallel()
	const isOther = `conditions = ["object.spec.containers[0].image == 'other'"]`
	s := policytest.Patching(map[string]string{"p0": policytest.ToImage("other"), "p1": policytest.ToLabel("tier", "db")})
	loaded := loadScripts(t, s,
		"allow\n"+policytest.ImagePath, "allow\n"+policytest.LabelsPath+"\n[match]\n"+isOther,
		"allow\n[match]\n"+isOther, "deny No no\n[match]\nlabel_selector = \"tier=web\"", "allow\n[match]\nlabel_selector = \"tier=db\"",
	)
	v := Judge(t.Context(), []*Set{loaded}, deciding(policytest.FileQuestion(t)), api.Allow)
	var asked []string
	for i := range v.Opinions {
		asked = append(asked, v.Opinions[i].Policy)
	}
	if !slices.Equal(asked, []string{"p0", "p1", "p2", "p4"}) || v.Answer != api.Allow {
		t.Errorf("asked %q, verdict %+v", asked, v)
	}
}

func TestWhatAnUpdateChangesIsSaidOfThePodAsItIsByThen(t *testing.T) {
	t.Parallel()
	s := policytest.Patching(map[string]string{"p0": policytest.ToImage("other")})
	loaded := loadScripts(t, s, "allow\n"+policytest.ImagePath, "allow")
	q := policytest.FileQuestion(t, func(q *api.Question) {
		q.Op, q.Old = api.UpdateOp, q.Pod.DeepCopy()
		q.Old.Spec.Containers[0].Image = "other"
	})
	d := deciding(q)
	d.Request.Changed = Changes(&q)
	for range 2 { // the result is the same the second time
		Judge(t.Context(), []*Set{loaded}, d, api.Allow)
		for policy, want := range map[string]string{"p0": "img map[tier:web] [images]", "p1": "other map[tier:web] []"} {
			if got := s.Saw(policy); got != want {
				t.Errorf("%s was asked about %s, want %s", policy, got, want)
			}
		}
	}
}

func TestPodsOfAnAPIServerAreChangedOnlyWhereTheOperatorSaysSo(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		keys, patch string
		allowed     bool
		want        string // the failure, empty if there is none
	}{
		"not without mutate_api":            {policytest.ImagePath, policytest.ToImage("x"), false, "policy.mutate_api = true"},
		"an image with it":                  {policytest.ImagePath, policytest.ToImage("x"), true, ""},
		"no container more":                 {`mutable_paths = ["/spec"]`, `[{"op":"add","path":"/spec/containers/-","value":{"name":"n","image":"i"}}]`, true, "none can be added or removed"},
		"no volume more":                    {`mutable_paths = ["/spec"]`, `[{"op":"add","path":"/spec/volumes","value":[{"name":"n","emptyDir":{}}]}]`, true, "none can be added or removed"},
		"not the name of a container":       {`mutable_paths = ["/spec"]`, `[{"op":"replace","path":"/spec/containers/0/name","value":"x"}]`, true, "keep the names"},
		"not the service account":           {`mutable_paths = ["/spec"]`, `[{"op":"add","path":"/spec/serviceAccountName","value":"x"}]`, true, "the service account is the API server's to give"},
		"not what the scheduler went by":    {`mutable_paths = ["/spec"]`, `[{"op":"add","path":"/spec/containers/0/resources/requests","value":{"cpu":"1m"}}]`, true, "the scheduler chose the node by the requests"},
		"not a port":                        {`mutable_paths = ["/spec"]`, `[{"op":"add","path":"/spec/containers/0/ports","value":[{"containerPort":1,"protocol":"TCP"}]}]`, true, "the ports are known to the API server"},
		"a patch that changes nothing does": {policytest.ImagePath, `[]`, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := policytest.Patching(map[string]string{"p0": test.patch})
			d := deciding(policytest.FileQuestion(t, policytest.OfAPI(t)))
			d.Request.Kind, d.MutateAPI = api.KindAPI, test.allowed
			v := Judge(t.Context(), []*Set{loadScripts(t, s, "allow\n"+test.keys)}, d, api.Allow)
			o := v.Opinions[0]
			if (o.Failure == "") != (test.want == "") || !strings.Contains(o.Message, test.want) {
				t.Errorf("verdict %+v", v)
			}
			if (v.Mutation != nil) != (test.want == "" && test.patch != "[]") {
				t.Errorf("mutation %+v", v.Mutation)
			}
		})
	}
}

func TestALastVerdictThatChangedThePodDoesNotLetItThroughUnchanged(t *testing.T) {
	t.Parallel()
	s := policytest.NewScripts()
	loaded := loadScripts(t, s, "allow\non_error = \"last_verdict\"\n"+policytest.ImagePath)
	s.Edit = func(_ string, r *wasm.Result) {
		if r.Patch = []byte(policytest.ToImage("x")); len(s.Calls()) > 1 {
			r.Answer = "perhaps"
		}
	}
	d := deciding(policytest.FileQuestion(t))
	d.Instance, d.Cache = "i", &VerdictCache{}
	first := Judge(t.Context(), []*Set{loaded}, d, api.Allow)
	then := Judge(t.Context(), []*Set{loaded}, d, api.Allow)
	if first.Answer != api.Allow || first.Mutation == nil || first.Mutation.Instance != "i" {
		t.Errorf("first %+v", first)
	}
	if then.Answer != api.Hold || then.Mutation != nil || !strings.Contains(then.Message, "before that it changed the pod") {
		t.Errorf("then %+v", then)
	}
}

func TestManyChangesOfOnePolicyAreListedInPart(t *testing.T) {
	t.Parallel()
	var all []string
	for i := range pod.MaxMutatorChanges + 5 {
		all = append(all, fmt.Sprintf(`{"op":"add","path":"/metadata/labels/l%d","value":"x"}`, i))
	}
	s := policytest.Patching(map[string]string{"p0": "[" + strings.Join(all, ",") + "]"})
	v := Judge(t.Context(), []*Set{loadScripts(t, s, "allow\n"+policytest.LabelsPath)}, deciding(policytest.FileQuestion(t)), api.Allow)
	if by := v.Mutation.By[0]; len(by.Changed) != pod.MaxMutatorChanges || by.More != 5 {
		t.Errorf("%d and %d more", len(by.Changed), by.More)
	}
}

func TestTheCostOfAPatchGrowsWithPodAndPatch(t *testing.T) {
	t.Parallel()
	small := &v1.Pod{}
	large := policytest.SomePod("web")
	if patchCost(small, nil) <= 0 || patchCost(large, nil) <= patchCost(small, nil) || patchCost(small, make([]byte, 9)) <= patchCost(small, nil) {
		t.Errorf("%d, %d, %d", patchCost(small, nil), patchCost(large, nil), patchCost(small, make([]byte, 9)))
	}
	more := large.DeepCopy()
	more.Status.Phase, more.ManagedFields = v1.PodRunning, []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	if patchCost(more, nil) != patchCost(large, nil) {
		t.Errorf("what policies do not see costs %d", patchCost(more, nil)-patchCost(large, nil))
	}
}
