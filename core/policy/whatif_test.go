package policy

import (
	"errors"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/replay"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/state/decisions"
)

const (
	judging = `hooks = ["admit", "filter"]`
	merging = `hooks = ["merge"]`
	// ownsOnly stands for a tenant without policies.
	ownsOnly = "none"
)

// onRecord lets a policy of the operator's decide questions of every hook, and a policy of
// tenant a the first of them too.
func onRecord(t *testing.T, script, hooks, tenants string) (records []*decisions.Record, exhibits []replay.Artifacts) {
	t.Helper()
	at, d, s := filepath.Join(t.TempDir(), "state"), policytest.NewTree(t), policytest.NewScripts()
	write := func(dir policytest.Tree, name, script string) {
		dir.Write(name+".toml", policytest.DocumentIn(name, script, hooks))
		dir.Write(name+".wasm", script)
	}
	write(d, "p", script)
	log, closeAll := policytest.RecordsIn(t, at)
	c := testConfig(d, s)
	c.Records, c.Sources = log, []string{"cluster", "static"}
	if tenants != "" {
		c.Tenants = []Tenant{{Name: "a", Owns: func(ns string) bool { return ns == "shop" }, FuelPerSecond: 1 << 40}}
	}
	if tenants != "" && tenants != ownsOnly {
		of := policytest.NewTree(t)
		write(of, "q", tenants)
		c.Tenants[0].Dir = of.Dir
	}
	p := New(c)
	stop := run(t, p)
	everyHook(t, p, "web")
	stop()
	closeAll()
	return evidenceIn(t, at)
}

// instead replays the decisions with the tenant's set replaced by one policy p, and returns
// the results.
func instead(t *testing.T, records []*decisions.Record, exhibits []replay.Artifacts, script, more, tenant string) (got []string) {
	t.Helper()
	d := policytest.NewTree(t)
	d.Write("p.toml", policytest.DocumentIn("p", script, more))
	d.Write("p.wasm", script)
	again := replay.NewReplayer(scripted{policytest.NewScripts()}, slog.New(slog.DiscardHandler))
	defer again.Close()
	with, err := again.WhatIf(t.Context(), operatorOf(d, policytest.NewScripts(), tenant))
	policytest.Must(t, err)
	defer with.Release()
	for i, r := range records {
		v, diff, err := with.Decide(t.Context(), r, exhibits[i])
		switch {
		case err != nil:
			got = append(got, r.Hook+" "+err.Error())
		case diff != nil:
			got = append(got, r.Hook+" "+diff.String())
		default:
			got = append(got, r.Hook+" the same "+string(v.Answer))
		}
	}
	return got
}

func TestOfOtherPoliciesWhatComesOutOtherwiseIsTold(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		// was and tenants are the scripts of the operator's and the tenant's policies on
		// record.
		was, hooks, tenants string
		// would is the script of the policy p, and more has its further keys. The policy
		// replaces the set of the owner instead.
		would, more, instead string
		want                 []string
	}{
		"other words": {
			"deny No never", judging, "", "deny No other words", judging, "",
			[]string{"admit the same deny", "filter the same pass"},
		},
		"another answer": {
			"deny No never", judging, "", "allow", judging, "",
			[]string{"admit answer is deny on record, made again allow", "filter the same pass"},
		},
		"another reason": {
			"deny No never", judging, "", "deny Not never", judging, "",
			[]string{"admit reason is No on record, made again Not", "filter the same pass"},
		},
		"a failure": {
			"allow", judging, "", "trap no", judging, "",
			[]string{"admit answer is allow on record, made again hold", "filter the same pass"},
		},
		"a failure no more": {
			"trap no", judging, "", "allow", judging, "",
			[]string{"admit answer is hold on record, made again allow", "filter the same pass"},
		},
		"another winner": {
			"winner 0", merging, "", "winner 1", merging, "",
			[]string{"admit the same allow", "merge answer is winner b#0 of cluster on record, made again winner a#0 of static"},
		},
		"the same winner": {"winner 0", merging, "", "winner 0 Other words", merging, "", []string{"admit the same allow", "merge the same winner"}},
		"nobody for a hook": {
			"drop No never", judging, "", "hold No", `hooks = ["admit"]`, "",
			[]string{"admit reason is PolicyFailed on record, made again No", "filter answer is drop on record, made again pass"},
		},
		"one that matches": {
			"allow", judging, "", "deny No never", judging + "\n[match]\nconditions = [\"object.metadata.name == 'web'\"]", "",
			[]string{"admit answer is allow on record, made again deny", "filter the same pass"},
		},
		"one that does not match": {
			"deny No never", judging, "", "deny No never", judging + "\n[match]\nconditions = [\"object.metadata.name == 'db'\"]", "",
			[]string{"admit answer is deny on record, made again allow", "filter the same pass"},
		},
		"a tenant's": {
			"allow", judging, "deny No never", "allow", judging, "a",
			[]string{"admit answer is deny on record, made again allow", "filter the same pass"},
		},
		"the operator's, where the tenant's deny": {
			"allow", judging, "deny No never", "deny Not never", judging, "",
			[]string{"admit the same deny", "filter the same pass"},
		},
		"those of a tenant that has no pods": {
			"allow", judging, "", "allow", judging, "b",
			[]string{"admit the policies of this owner judge no such pod", "filter the policies of this owner judge no such pod"},
		},
		"those of a tenant that had none, which are asked first": {
			"deny No never", judging, ownsOnly, "deny Mine never", judging, "a",
			[]string{"admit reason is No on record, made again Mine", "filter the same pass"},
		},
		"those of a tenant that had none, whose contests the operator's decide": {
			"winner 0", merging, ownsOnly, "winner 1", merging, "a", []string{"admit the same allow", "merge the same winner"},
		},
		"one that sees the node": {
			"allow", judging, "", "quota 1", "hooks = [\"admit\"]\ncapabilities = [\"node.read\"]", "",
			[]string{"admit the record has neither node facts nor references: no policy of that decision read them", "filter the same pass"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records, exhibits := onRecord(t, test.was, test.hooks, test.tenants)
			if diff := cmp.Diff(test.want, instead(t, records, exhibits, test.would, test.more, test.instead)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOfOtherPoliciesIsToldWhatTheyMakeOfThePod(t *testing.T) {
	t.Parallel()
	const long = `[{"op":"add","path":"/metadata/labels/by","value":"a"},{"op":"test","path":"/metadata/labels/by","value":"a"}]`
	at, d := filepath.Join(t.TempDir(), "state"), policytest.NewTree(t)
	patching := func() *policytest.Scripts {
		s := policytest.NewScripts()
		s.Edit = func(_ string, r *wasm.Result) { r.Patch, r.Reason, r.Message = []byte(r.Message), "", "" }
		return s
	}
	d.Policy("p", "allow No "+policytest.ToLabel("by", "a"), policytest.LabelsPath)
	log, closeAll := policytest.RecordsIn(t, at)
	c := testConfig(d, patching())
	c.Records = log
	p := New(c)
	stop := run(t, p)
	ask(t, p, policytest.FileQuestion(t))
	stop()
	closeAll()
	records, exhibits := evidenceIn(t, at)
	for would, want := range map[string]string{
		policytest.ToLabel("by", "a"): "the same",
		policytest.ToLabel("by", "b"): "mutation is " + policytest.ToLabel("by", "a") + " on record, made again " + policytest.ToLabel("by", "b"),
		policytest.ToLabel("to", "b"): "mutation is " + policytest.ToLabel("by", "a") + " on record, made again " + policytest.ToLabel("to", "b"),
		"":                            "mutation is " + policytest.ToLabel("by", "a") + " on record, made again nothing",
		long:                          "the same",
	} {
		of := policytest.NewTree(t)
		of.Policy("p", "allow No "+would, policytest.LabelsPath)
		again := replay.NewReplayer(scripted{patching()}, slog.New(slog.DiscardHandler))
		with, err := again.WhatIf(t.Context(), operatorOf(of, patching(), ""))
		policytest.Must(t, err)
		_, diff, err := with.Decide(t.Context(), records[0], exhibits[0])
		policytest.Must(t, err)
		got := "the same"
		if diff != nil {
			got = diff.String()
		}
		if got != want {
			t.Errorf("with %s: %s, want %s", would, got, want)
		}
		with.Release()
		again.Close()
	}
}

// contestOnRecord lets the operator's and tenant a's policies, both of one name, decide a
// contest.
func contestOnRecord(t *testing.T, operators, tenants string) (records []*decisions.Record, exhibits []replay.Artifacts) {
	t.Helper()
	at, d, of := filepath.Join(t.TempDir(), "state"), policytest.NewTree(t), policytest.NewTree(t)
	for dir, script := range map[policytest.Tree]string{d: operators, of: tenants} {
		dir.Write("p.toml", policytest.DocumentIn("p", script, merging))
		dir.Write("p.wasm", script)
	}
	log, closeAll := policytest.RecordsIn(t, at)
	c := testConfig(d, policytest.NewScripts())
	c.Records, c.Sources = log, []string{"cluster", "static"}
	c.Tenants = []Tenant{{Name: "a", Owns: func(ns string) bool { return ns == "shop" }, FuelPerSecond: 1 << 40, Dir: of.Dir}}
	p := New(c)
	stop := run(t, p)
	resolved := make(chan api.Resolution, 1)
	p.Rules().Resolve(contested("web"), func(r api.Resolution) { resolved <- r })
	<-resolved
	stop()
	closeAll()
	return evidenceIn(t, at)
}

func TestOfPoliciesOfOneNameThatOneCountsWhichDecided(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		operators, tenants string
		// tenant is the owner whose policy decides; empty for the operator.
		tenant string
		// would is the script that replaces the tenant's policy.
		would, want string
	}{
		"another winner of the tenant's": {"abstain", "winner 0", "a", "winner 1", "merge answer is winner b#0 of cluster on record, made again winner a#0 of static"},
		"the same winner":                {"abstain", "winner 0", "a", "winner 0", "merge the same winner"},
		"nobody":                         {"abstain", "abstain", "a", "abstain Words", "merge the same abstain"},
		"nobody, and then a winner":      {"abstain", "abstain", "a", "winner 0", "merge answer is abstain on record, made again winner b#0 of cluster"},
		"the operator's has decided":     {"winner 0", "winner 1", "", "reject", "merge the same winner"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records, exhibits := contestOnRecord(t, test.operators, test.tenants)
			if got := instead(t, records, exhibits, test.would, merging, "a"); len(got) != 1 || got[0] != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if v := records[0].Verdict; v.Policy != "p" || v.Tenant != test.tenant {
				t.Errorf("%q of %q is on record", v.Policy, v.Tenant)
			}
			again := replay.NewReplayer(scripted{policytest.NewScripts()}, slog.New(slog.DiscardHandler))
			defer again.Close()
			for _, tenant := range []string{test.tenant, ""} { // older agents did not record the tenant
				r := *records[0]
				r.Verdict.Tenant = tenant
				if d := repeated(t, again, &r, exhibits[0]); d != nil {
					t.Errorf("with tenant %q: %v", tenant, d)
				}
			}
			r := *records[0]
			r.Verdict.Tenant = "b"
			if d := repeated(t, again, &r, exhibits[0]); d == nil || d.Field != "tenant" {
				t.Errorf("of another tenant: %v", d)
			}
		})
	}
}

func TestPoliciesThatWouldBeRefusedMakeNoDecision(t *testing.T) {
	t.Parallel()
	d := policytest.NewTree(t)
	d.Write("p.toml", "api = 1\n")
	_, err := replay.NewReplayer(scripted{policytest.NewScripts()}, slog.New(slog.DiscardHandler)).WhatIf(t.Context(), operatorOf(d, policytest.NewScripts(), ""))
	if err == nil || errors.Is(err, replay.ErrNotJudged) {
		t.Errorf("got %v", err)
	}
}
