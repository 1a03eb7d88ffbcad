package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/server/client"
)

// judges imitates the policies.
type judges struct {
	sets      []api.PolicySet
	decisions []api.Decision
}

func (j judges) Sets() []api.PolicySet     { return j.sets }
func (j judges) Decisions() []api.Decision { return j.decisions }

func (j judges) Reload(_ context.Context, tenant string) (api.PolicySet, error) {
	return j.ordered("reload", tenant)
}

func (j judges) Retry(_ context.Context, tenant string) (api.PolicySet, error) {
	return j.ordered("retry", tenant)
}

func (j judges) Confirm(_ context.Context, tenant, policy, sha256 string) (api.PolicySet, error) {
	return j.ordered(strings.TrimSpace("confirm "+policy+" "+sha256), tenant)
}

func (j judges) Rollback(_ context.Context, tenant string) (api.PolicySet, error) {
	return j.ordered("rollback", tenant)
}

// ordered returns the set of a tenant, with the order as its digest. For the tenant "broken" it
// also returns an error.
func (j judges) ordered(order, tenant string) (api.PolicySet, error) {
	for i := range j.sets {
		s := j.sets[i]
		if s.Tenant != tenant {
			continue
		}
		s.Digest = order
		if tenant == "broken" {
			return s, errors.New("a.toml: broken")
		}
		return s, nil
	}
	return api.PolicySet{}, fmt.Errorf("tenant %q has no policies", tenant)
}

func TestPoliciesAreThoseInForce(t *testing.T) {
	t.Parallel()
	want := []api.PolicySet{{
		Directory: "/etc/wardlet/policies", Ready: true, Digest: "ab12", Generation: 2,
		Loaded:   time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Policies: []api.PolicyState{{Name: "allowed-images", Hooks: []string{"admit"}, Mode: "enforce", OnError: "hold", Denied: 3}},
	}}
	socket, _ := start(t, known{policies: judges{sets: want}})
	var got []api.PolicySet
	if err := client.New(socket).Get(t.Context(), "/v1/policies", &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sets (-want +got):\n%s", diff)
	}
}

func TestDecisionsAreNarrowed(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	socket, _ := start(t, known{policies: judges{decisions: []api.Decision{
		{Namespace: "a", Name: "web", Count: 1},
		{Namespace: "a", Name: "db", Count: 2},
		{Namespace: "b", Name: "web", Count: 3},
		{Namespace: "c", Name: "manifest-edge", Count: 4, Hook: "merge", Last: at},
		{
			Namespace: "c", Name: "x", Count: 5, Tenant: "a", Last: at.Add(time.Second), Hook: "admit",
			Verdict: api.Verdict{Answer: api.Deny, Policy: "decides", Opinions: []api.Opinion{{Policy: "decides"}, {Policy: "thinks"}}},
		},
	}}})
	for path, want := range map[string][]int{
		"/v1/decisions":                                            {1, 2, 3, 4, 5},
		"/v1/decisions?namespace=a":                                {1, 2},
		"/v1/decisions?name=web":                                   {1, 3},
		"/v1/decisions?namespace=b&name=web":                       {3},
		"/v1/decisions?namespace=b&name=db":                        {},
		"/v1/decisions?namespace=&name=":                           {1, 2, 3, 4, 5},
		"/v1/decisions?limit=2":                                    {4, 5},
		"/v1/decisions?limit=0":                                    {1, 2, 3, 4, 5},
		"/v1/decisions?name=web&limit=1":                           {3},
		"/v1/decisions?name=manifest":                              {4},
		"/v1/decisions?hook=merge":                                 {4},
		"/v1/decisions?answer=deny":                                {5},
		"/v1/decisions?policy=decides":                             {5},
		"/v1/decisions?policy=thinks":                              {5},
		"/v1/decisions?tenant=a":                                   {5},
		"/v1/decisions?tenant=&namespace=c":                        {4},
		"/v1/decisions?since=2026-01-02T03:04:05Z&namespace=c":     {4, 5},
		"/v1/decisions?since=2026-01-02T03:04:05.001Z&namespace=c": {5},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			var list []api.Decision
			if err := client.New(socket).Get(t.Context(), path, &list); err != nil {
				t.Fatal(err)
			}
			got := []int{}
			for i := range list {
				got = append(got, list[i].Count)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("decisions by count (-want +got):\n%s", diff)
			}
		})
	}
}

func TestListsWithNothingInThemAreEmptyLists(t *testing.T) {
	t.Parallel()
	for name, k := range map[string]known{
		"an agent without policies":       {},
		"an agent that has not begun yet": {policies: judges{}, waiting: held(nil)},
	} {
		for _, path := range []string{"/v1/policies", "/v1/decisions", "/v1/waiting"} {
			t.Run(name+path, func(t *testing.T) {
				t.Parallel()
				socket, _ := start(t, k)
				var got json.RawMessage
				if err := client.New(socket).Get(t.Context(), path, &got); err != nil || string(got) != "[]" {
					t.Errorf("answer %q, error %v; want []", got, err)
				}
			})
		}
	}
}

func TestAQuestionForDecisionsThatMakesNoSenseIsRefused(t *testing.T) {
	t.Parallel()
	socket, _ := start(t, known{policies: judges{}})
	for query, want := range map[string]string{
		"since=yesterday": `since="yesterday" is no time`,
		"limit=many":      `limit="many" is no number`,
		"limit=-1":        `limit="-1" is no number`,
	} {
		var list []api.Decision
		err := client.New(socket).Get(t.Context(), "/v1/decisions?"+query, &list)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %s", query, err, want)
		}
	}
}
