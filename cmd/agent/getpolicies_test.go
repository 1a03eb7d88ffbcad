package main

import (
	"context"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/api"
)

const digest = "5f3a0123456789abcdef0123456789abcdef0123456789abcdef0123456789ab"

// aSet returns a set of two policies.
func aSet(edits ...func(*api.PolicySet)) api.PolicySet {
	s := api.PolicySet{
		Directory: "/etc/wardlet/policies", Ready: true, Digest: digest, Generation: 2, Loaded: noon.Add(-3 * time.Minute),
		Policies: []api.PolicyState{
			{
				Name: "required-labels", Document: "/etc/wardlet/policies/required-labels.toml", Module: "/etc/wardlet/policies/required-labels.wasm",
				SHA256: digest[10:] + digest[:10], Hooks: []string{"admit"}, Mode: "enforce", Priority: 50, OnError: "hold", OnChange: "ignore", Allowed: 12, Held: 3,
			},
			{
				Name: "allowed-images", Document: "/etc/wardlet/policies/allowed-images.toml", Module: "/etc/wardlet/policies/allowed-images.wasm",
				SHA256: digest[20:] + digest[:20], Hooks: []string{"admit"}, Mode: "enforce", Priority: 100, OnError: "deny", OnChange: "ignore",
				Allowed: 9, Denied: 6, Failed: 6, Failures: map[string]uint64{"Trap": 1, "FuelExhausted": 5}, LastFailure: "Trap: unreachable\n\x1b]0;x",
			},
		},
	}
	for _, e := range edits {
		e(&s)
	}
	return s
}

func refused(s *api.PolicySet) {
	s.Refused = "/etc/wardlet/policies/a.toml:3: mode: want \"enforce\" or \"off\", found \"on\"\n" +
		"/etc/wardlet/policies/b.toml:1: name: missing\n"
	s.RefusedAt = noon.Add(-65 * time.Second)
}

func onProbation(s *api.PolicySet) {
	s.Probation = &api.PolicyProbation{Since: noon.Add(-3 * time.Minute), Policies: []string{"allowed-images"}, Decisions: 12, Failed: 1}
}

func failingFirst(s *api.PolicySet) {
	onProbation(s)
	s.Probation.Decisions, s.Probation.Failed, s.Probation.Failing = 20, 20, "there is no earlier set to go back to"
}

func neverLoaded(s *api.PolicySet) {
	*s = api.PolicySet{Directory: s.Directory}
}

// changing lets the policies change pods and read the node.
func changing(s *api.PolicySet) {
	s.Policies[0].MutablePaths, s.Policies[0].Capabilities = []string{"/metadata/labels"}, []string{"node.read"}
	s.Policies[1].MutablePaths = []string{"/spec/containers/*/image", "/metadata/labels", "/metadata/annotations/a\x1b", "/spec/priority", "/spec/hostname"}
}

// reviewing lets the policies re-evaluate running pods.
func reviewing(s *api.PolicySet) {
	s.Policies[0].OnChange, s.Policies[0].Review = "report", &api.PolicyReview{Judged: 9, Violating: 2}
	s.Policies[1].OnChange, s.Policies[1].Review = "evict", &api.PolicyReview{Judged: 47, Violating: 47, Of: 50, Evicted: 3, Allowed: 5, Waiting: 45, Next: noon.Add(7 * time.Second)}
}

// braked makes a policy wait, because it has evicted as many pods as it may.
func braked(s *api.PolicySet) {
	reviewing(s)
	r := s.Policies[1].Review
	r.Judged, r.Violating, r.Evicted, r.Waiting, r.Next, r.Waits = 45, 45, 5, 43, time.Time{}, `for "wardlet policy confirm allowed-images"`
}

// shadowing adds a candidate to replace the second policy.
func shadowing(s *api.PolicySet) {
	c := s.Policies[1]
	c.Mode, c.Document, c.Failed, c.Failures, c.LastFailure = "shadow", "/etc/wardlet/policies/next.toml", 0, nil, ""
	c.Shadow = &api.PolicyShadow{
		Since: noon.Add(-3 * time.Minute), InForceSHA256: "1" + digest[1:], CandidateSHA256: "2" + digest[1:], Decisions: 40, Different: 2, Skipped: 1, MaxDifference: 0.1, MinDecisions: 100, MinTime: 10 * time.Minute,
		Waits: "it was asked in 40 of 100 decisions",
		Differences: []api.ShadowDifference{{
			At: noon, Hook: "admit", About: "shop/web", InForce: "allow", Candidate: "deny", CandidateSaid: "ImageNotAllowed: image x\x1b",
		}},
	}
	s.Policies = append(s.Policies, c)
}

// ready makes the candidate ready for promotion.
func ready(s *api.PolicySet) {
	shadowing(s)
	x := s.Policies[2].Shadow
	x.Waits, x.Differences, x.Different, x.Skipped, x.Decisions = "", nil, 0, 0, 100
}

// broken opens breakers of the first policy.
func broken(s *api.PolicySet) {
	s.Policies[0].Breakers = []api.PolicyBreaker{
		{Failed: 7, Last: "Trap", Failing: 5, Until: noon.Add(19 * time.Second)},
		{Tenant: "a", Failed: 5, Last: "FuelExhausted", Failing: 1, Until: noon.Add(-time.Second)},
	}
}

// grouping makes the second policy a member of a group.
func grouping(s *api.PolicySet) {
	s.Policies[1].Mode = "member"
	s.Policies = append(s.Policies, api.PolicyState{
		Name: "trusted", Expression: "allowed-images || signed", Document: "/etc/wardlet/policies/trusted.toml",
		Mode: "enforce", Priority: 100, OnChange: "ignore", Allowed: 4, Denied: 5,
	})
}

func counted(s *api.PolicySet) { s.Policies[0].Allowed++ }

func aged(s *api.PolicySet) { s.Loaded = s.Loaded.Add(-time.Minute) }

func replaced(s *api.PolicySet) {
	s.Digest, s.Generation, s.Loaded, s.Policies = "77"+digest[2:], 3, noon, s.Policies[:1]
}

func TestGetPolicies(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		sets []api.PolicySet
		args []string
	}{
		"get-policies":                   {[]api.PolicySet{aSet()}, []string{"policies"}},
		"get-policies-wide":              {[]api.PolicySet{aSet()}, []string{"policies", "-o", "wide"}},
		"get-policies-changing-wide":     {[]api.PolicySet{aSet(changing)}, []string{"policies", "-o", "wide"}},
		"get-policies-changing-yaml":     {[]api.PolicySet{aSet(changing)}, []string{"policies", "-o", "yaml"}},
		"get-policies-reviewing":         {[]api.PolicySet{aSet(reviewing)}, []string{"policies", "-o", "wide"}},
		"get-policies-braked":            {[]api.PolicySet{aSet(braked)}, []string{"policies"}},
		"get-policies-braked-json":       {[]api.PolicySet{aSet(braked)}, []string{"policy", "allowed-images", "-o", "json"}},
		"get-policies-shadow":            {[]api.PolicySet{aSet(shadowing)}, []string{"policies"}},
		"get-policies-groups":            {[]api.PolicySet{aSet(grouping)}, []string{"policies", "-o", "wide"}},
		"get-policies-shadow-json":       {[]api.PolicySet{aSet(shadowing)}, []string{"policy", "allowed-images", "-o", "json"}},
		"get-policies-shadow-ready":      {[]api.PolicySet{aSet(ready)}, []string{"policies"}},
		"get-policies-probation":         {[]api.PolicySet{aSet(onProbation)}, []string{"policies"}},
		"get-policies-probation-failing": {[]api.PolicySet{aSet(failingFirst)}, []string{"policies"}},
		"get-policies-probation-json":    {[]api.PolicySet{aSet(onProbation)}, []string{"policy", "required-labels", "-o", "json"}},
		"get-policies-breakers":          {[]api.PolicySet{aSet(broken)}, []string{"policies"}},
		"get-policies-breakers-json":     {[]api.PolicySet{aSet(broken)}, []string{"policy", "required-labels", "-o", "json"}},
		"get-policies-named":             {[]api.PolicySet{aSet()}, []string{"policy", "required-labels"}},
		"get-policies-not-found":         {[]api.PolicySet{aSet()}, []string{"policy", "other"}},
		"get-policies-refused":           {[]api.PolicySet{aSet(refused)}, []string{"policies"}},
		"get-policies-json":              {[]api.PolicySet{aSet()}, []string{"policy", "required-labels", "-o", "json"}},
		"get-policies-yaml":              {[]api.PolicySet{aSet(refused)}, []string{"policies", "-o", "yaml"}},
		"get-policies-not-ready":         {[]api.PolicySet{aSet(neverLoaded)}, []string{"policies"}},
		"get-policies-not-ready-refused": {[]api.PolicySet{aSet(neverLoaded, refused)}, []string{"policies"}},
		"get-policies-not-ready-json":    {[]api.PolicySet{aSet(neverLoaded, refused)}, []string{"policies", "-o", "json"}},
		"get-policies-no-headers":        {[]api.PolicySet{aSet(refused)}, []string{"policies", "--no-headers"}},
		"get-policies-name":              {[]api.PolicySet{aSet()}, []string{"policies", "-o", "name"}},
		"get-policies-name-not-ready":    {[]api.PolicySet{aSet(neverLoaded)}, []string{"policies", "-o", "name"}},
		"get-policies-none-no-headers":   {nil, []string{"policies", "--no-headers"}},
		"get-policies-none":              {nil, []string{"policies"}},
		"get-policies-none-json":         {nil, []string{"policies", "-o", "json"}},
		"get-policies-no-directory":      {[]api.PolicySet{{}}, []string{"policies"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, _ := serve(t, &knowledge{policies: [][]api.PolicySet{test.sets}})
			golden(t, name, wardlet(t.Context(), append([]string{"get", "--socket", socket}, test.args...)...))
		})
	}
}

func TestWatchOfPoliciesPrintsNewSetsRefusalsAndCounts(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	answers := [][]api.PolicySet{
		{aSet(neverLoaded)},
		{aSet(neverLoaded)},
		{aSet(neverLoaded, refused)},
		{aSet()},
		{aSet()},
		{aSet(counted)},
		{aSet(counted, aged)},
		{aSet(counted, refused)},
		{aSet(counted)},
		{aSet(counted, replaced)},
	}
	k := &knowledge{policies: answers, asked: func(n int) {
		if n == len(answers)+2 {
			cancel()
		}
	}}
	socket, _ := serve(t, k)
	golden(t, "watch-policies", wardlet(ctx, "get", "policies", "-w", "--socket", socket))
}
