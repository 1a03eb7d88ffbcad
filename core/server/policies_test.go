package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/server/client"
)

// judges answers for the policies.
type judges struct {
	sets      []pod.PolicySet
	decisions []pod.Decision
}

func (j judges) Sets() []pod.PolicySet     { return j.sets }
func (j judges) Decisions() []pod.Decision { return j.decisions }

func (j judges) Reload(_ context.Context, tenant string) (pod.PolicySet, error) {
	return j.ordered("reload", tenant)
}

func (j judges) Retry(_ context.Context, tenant string) (pod.PolicySet, error) {
	return j.ordered("retry", tenant)
}

func (j judges) Rollback(_ context.Context, tenant string) (pod.PolicySet, error) {
	return j.ordered("rollback", tenant)
}

// ordered gives the set of a tenant, of the generation that names the order; that
// of the tenant "broken" is refused.
func (j judges) ordered(order, tenant string) (pod.PolicySet, error) {
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
	return pod.PolicySet{}, fmt.Errorf("tenant %q has no policies", tenant)
}

func TestPoliciesAreThoseInForce(t *testing.T) {
	t.Parallel()
	want := []pod.PolicySet{{
		Directory: "/etc/wardlet/policies", Ready: true, Digest: "ab12", Generation: 2,
		Loaded:   time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Policies: []pod.PolicyState{{Name: "allowed-images", Hooks: []string{"admit"}, Mode: "enforce", OnError: "hold", Denied: 3}},
	}}
	socket, _ := start(t, known{policies: judges{sets: want}})
	var got []pod.PolicySet
	if err := client.New(socket).Get(t.Context(), "/v1/policies", &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sets (-want +got):\n%s", diff)
	}
}

func TestDecisionsAreNarrowedByNamespaceAndName(t *testing.T) {
	t.Parallel()
	socket, _ := start(t, known{policies: judges{decisions: []pod.Decision{
		{Namespace: "a", Name: "web", Count: 1},
		{Namespace: "a", Name: "db", Count: 2},
		{Namespace: "b", Name: "web", Count: 3},
	}}})
	for path, want := range map[string][]int{
		"/v1/decisions":                      {1, 2, 3},
		"/v1/decisions?namespace=a":          {1, 2},
		"/v1/decisions?name=web":             {1, 3},
		"/v1/decisions?namespace=b&name=web": {3},
		"/v1/decisions?namespace=b&name=db":  {},
		"/v1/decisions?namespace=&name=":     {1, 2, 3},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			var list []pod.Decision
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
