package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/test/wasmtest"
)

// patchedContest returns a contest whose documents look as sources return them. The policy's
// candidate 0 is the pod of the file, candidate 1 the pod of the API server.
func patchedContest(t *testing.T) api.Contest {
	t.Helper()
	c := contestOf("shop", "")
	for i := range c.Candidates {
		q := policytest.FileQuestion(t)
		if x := &c.Candidates[i]; x.Origin.Source == "cluster" {
			q = policytest.FileQuestion(t, policytest.OfAPI(t))
		}
		c.Candidates[i].Pod = q.Pod
	}
	return c
}

// based makes every merge policy return this patch for the winner it names.
func based(s *policytest.Scripts, patch string) {
	s.Patch = func(string) []byte { return []byte(patch) }
}

func TestTheWinnerIsJudgedAsTheMergePolicyMadeIt(t *testing.T) {
	t.Parallel()
	const label = `[{"op":"add","path":"/metadata/labels","value":{"tier":"edge"}}]`
	for name, test := range map[string]struct {
		patch, keys string
		candidate   string
		mutateAPI   bool
		// changed is the path that the resolution reports as changed; failure is the plugin's
		// error, if it fails.
		changed, failure string
	}{
		"within its mutable_paths":             {label, `mutable_paths = ["/metadata/labels"]`, "0", false, "/metadata/labels/tier", ""},
		"a patch that changes nothing":         {`[]`, `mutable_paths = ["/metadata/labels"]`, "0", false, "", ""},
		"beyond its mutable_paths":             {label, `mutable_paths = ["/spec/priority"]`, "0", false, "", "the policy may change only /spec/priority"},
		"without mutable_paths":                {label, "", "0", false, "", "the policy may change nothing, its mutable_paths are empty"},
		"never the name":                       {`[{"op":"replace","path":"/metadata/name","value":"x"}]`, `mutable_paths = ["/metadata/labels"]`, "0", false, "", "/metadata/name"},
		"never the identity":                   {`[{"op":"add","path":"/metadata/annotations/wardlet.dev~1identity","value":"x"}]`, `mutable_paths = ["/metadata/annotations"]`, "0", false, "", "wardlet.dev~1identity"},
		"what is no patch of the pod":          {`[{"op":"remove","path":"/spec/none"}]`, `mutable_paths = ["/metadata/labels"]`, "0", false, "", "/spec/none"},
		"a pod of an API server":               {label, `mutable_paths = ["/metadata/labels"]`, "1", false, "", "mutate_api"},
		"a pod of an API server, by the owner": {label, `mutable_paths = ["/metadata/labels"]`, "1", true, "/metadata/labels/tier", ""},
		"in the mode audit":                    {label, "mode = \"audit\"\n" + `mutable_paths = ["/metadata/labels"]`, "0", false, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				based(s, test.patch)
				d.Hooked("m", api.HookMerge, "winner "+test.candidate, test.keys)
				p, _ := listed(t, d, s, ranked, func(c *Config) { c.MutateAPI = test.mutateAPI })
				run(t, p)
				c := patchedContest(t)
				got := resolve(t, p, c)
				on := p.Decisions()[0].Verdict.Opinions[0]
				if on.Patch != test.patch {
					t.Errorf("patch on record: %q", on.Patch)
				}
				if test.failure != "" {
					if got.Choice != api.ChooseCurrent || got.Mutation != nil || on.Failure != "BadOutput" || !strings.Contains(got.Message, test.failure) {
						t.Errorf("resolution %+v of %+v, want that the plugin has failed: %s", got, on, test.failure)
					}
					return
				}
				if on.Failure != "" || on.Fuel < eval.PatchFuel {
					t.Errorf("opinion %+v", on)
				}
				if test.changed == "" {
					if got.Mutation != nil {
						t.Errorf("changed: %s", got.Mutation)
					}
					return
				}
				won := c.Candidates[got.Winner].Pod
				instance, err := pod.Instance(won)
				if err != nil {
					t.Fatal(err)
				}
				m := got.Mutation
				if got.Choice != api.ChooseWinner || m == nil || m.Usable(won) != nil || m.Instance != instance {
					t.Fatalf("resolution %+v, want the winner changed and its instance kept", got)
				}
				if diff := cmp.Diff([]pod.Mutator{{Policy: "m", Changed: []string{test.changed}}}, m.By); diff != "" {
					t.Errorf("changed (-want +got):\n%s", diff)
				}
				if m.Final.Labels["tier"] != "edge" || won.Labels["tier"] == "edge" {
					t.Errorf("labels %v, of the source's %v", m.Final.Labels, won.Labels)
				}
			})
		})
	}
}

func TestATenantsMergePolicyChangesItsOwnPodsOnly(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		based(s, `[{"op":"add","path":"/metadata/labels/tier","value":"edge"}]`)
		d.Policy("a", "allow")
		d.Of("shop").Hooked("mine", api.HookMerge, "winner 0", `mutable_paths = ["/metadata/labels"]`)
		p, _ := listed(t, d, s, ranked, tenanted(d, "shop"))
		run(t, p)
		c := patchedContest(t)
		got := resolve(t, p, c)
		if got.Mutation == nil || got.Mutation.By[0].Tenant != "shop" {
			t.Errorf("resolution %+v", got)
		}
		c.Identity.Namespace = "other"
		if got := resolve(t, p, c); got.Choice != api.NoChoice || got.Mutation != nil {
			t.Errorf("resolution %+v of another tenant's pods", got)
		}
	})
}

func TestMergePluginsWhosePatchesFailAreGivenABreak(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		based(s, `[{"op":"remove","path":"/spec/none"}]`)
		d.Hooked("m", api.HookMerge, "winner 0", `mutable_paths = ["/metadata/labels"]`)
		p, _ := listed(t, d, s, ranked)
		run(t, p)
		var got api.Resolution
		for range 6 {
			got = resolve(t, p, patchedContest(t))
		}
		if got.Choice != api.ChooseCurrent || !strings.Contains(got.Message, "BreakerOpen") || len(s.Calls()) != 5 {
			t.Errorf("resolution %+v after %d calls", got, len(s.Calls()))
		}
	})
}

func TestATestOfAMergePolicyFindsAPatchThatReachesTooFar(t *testing.T) {
	t.Parallel()
	const vector = "[[test]]\nhook = \"merge\"\nexpect = \"a.yaml\"\n" +
		"[[test.candidate]]\npod = \"a.yaml\"\nsource = \"static\"\n[[test.candidate]]\npod = \"b.yaml\"\nsource = \"cluster\""
	for keys, want := range map[string]string{
		policytest.ImagePath:  "",
		policytest.LabelsPath: "want a.yaml, got a failure: the plugin failed with BadOutput: the patch goes beyond the policy's reach",
	} {
		d := policytest.NewTree(t)
		d.Write("a.yaml", policytest.ManifestText)
		d.Write("b.yaml", policytest.ManifestText)
		d.Hooked("p", api.HookMerge, "winner 0", keys, vector)
		s := policytest.NewScripts()
		based(s, policytest.ToImage("x"))
		_, err := loadSet(t, d, s)
		if got := policytest.InDir(err, d.Dir); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: %s", keys, got)
		}
	}
}

func TestMergePluginsOfWebAssemblyChangeTheWinner(t *testing.T) {
	t.Parallel()
	d := policytest.NewTree(t)
	d.Hooked("mirror", api.HookMerge, string(wasmtest.Patching(0, policytest.ToImage("mirror.example/web:1"))), policytest.ImagePath)
	config := sandboxed(t, d)
	ranked(&config)
	p := New(config)
	run(t, p)
	c := patchedContest(t)
	r := resolve(t, p, c)
	if r.Choice != api.ChooseWinner || r.Mutation == nil || r.Mutation.Final.Spec.Containers[0].Image != "mirror.example/web:1" {
		t.Fatalf("resolution %+v", r)
	}
	q := api.Question{Op: api.Add, Pod: r.Mutation.Final, Origin: c.Candidates[r.Winner].Origin, Base: r.Mutation}
	if v := ask(t, p, q); v.Answer != api.Allow {
		t.Errorf("verdict %+v", v)
	}
}

// TestTheLastVerdictOnADocumentIsNoneOnWhatAMergePolicyMadeOfIt checks that a verdict about a
// document is not used for the pod that a merge policy made of the document.
func TestTheLastVerdictOnADocumentIsNoneOnWhatAMergePolicyMadeOfIt(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		p, _ := listed(t, d, s, ranked)
		q := policytest.FileQuestion(t)
		plain := p.decision(api.HookAdmit, &q, p.request(&q, "", p.cfg.Now()), nil)
		based := q
		based.Base = &pod.Mutation{Instance: plain.Instance, FinalHash: "0123"}
		patched := p.decision(api.HookAdmit, &based, p.request(&based, "", p.cfg.Now()), nil)
		if plain.Instance == "" || patched.Instance != plain.Instance || plain.LastKey() != plain.Instance || patched.LastKey() != "0123" {
			t.Errorf("the document is %q, kept for %q; what was made of it %q, kept for %q",
				plain.Instance, plain.LastKey(), patched.Instance, patched.LastKey())
		}
	})
}
