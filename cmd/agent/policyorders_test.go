package main

import "testing"

func TestPolicyOrders(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"policy-reload":         {"policy", "reload"},
		"policy-retry":          {"policy", "retry"},
		"policy-rollback":       {"policy", "rollback"},
		"policy-reload-refused": {"policy", "reload", "--tenant", "a"},
		"policy-rollback-none":  {"policy", "rollback", "--tenant", "b"},
		"policy-confirm":        {"policy", "confirm", "p"},
		"policy-confirm-none":   {"policy", "confirm", "p", "--tenant", "b"},
		"policy-confirm-other":  {"policy", "confirm", "p", "--tenant", "a"},
		"policy-confirm-what":   {"policy", "confirm"},
		"help-policy-confirm":   {"policy", "confirm", "--help"},
		"policy-reload-extra":   {"policy", "reload", "a"},
		"help-policy-reload":    {"policy", "reload", "--help"},
		"help-policy-retry":     {"policy", "retry", "--help"},
		"help-policy-rollback":  {"policy", "rollback", "--help"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, _ := serve(t, &knowledge{})
			golden(t, name, wardlet(t.Context(), append(args, "--socket", socket)...), socket, "SOCKET")
		})
	}
}
