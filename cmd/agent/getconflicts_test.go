package main

import (
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/api"
)

func someConflicts() []api.Conflict {
	return []api.Conflict{
		{
			Namespace: "default", Name: "web", Rule: api.RulePrecedence, Since: noon.Add(-time.Hour), Claims: []api.Claim{
				{Source: "fleet", Document: "https://fleet.example/pods#3", Pod: "web-n1", UID: "u2", State: api.ClaimLost, Message: "web.yaml#0 of source static has precedence"},
				{Source: "static", Document: "web.yaml#0", Pod: "web-n1", UID: "u1", State: api.ClaimRuns},
			},
		},
		{
			Namespace: "shop", Name: "db", Rule: api.RulePolicy, Message: "latest: prefers\nthe newest", Since: noon.Add(-time.Second), Claims: []api.Claim{
				{Source: "api", Document: "shop/db", Pod: "db", UID: "u3", State: api.ClaimGivesWay, Message: "runs until db.yaml#1 is admitted"},
				{Source: "static", Document: "db.yaml#1", Pod: "db-n1", UID: "u4", State: api.ClaimWaits, Message: "not judged yet"},
			},
		},
	}
}

func TestGetConflicts(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"get-conflicts":       {"conflicts"},
		"get-conflicts-named": {"conflict", "db"},
		"get-conflicts-yaml":  {"conflict", "web", "-o", "yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, _ := serve(t, &knowledge{conflicts: someConflicts()})
			golden(t, name, wardlet(t.Context(), append([]string{"get", "--socket", socket}, args...)...))
		})
	}
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		socket, _ := serve(t, &knowledge{})
		golden(t, "get-conflicts-none", wardlet(t.Context(), "get", "--socket", socket, "conflicts"))
	})
}
